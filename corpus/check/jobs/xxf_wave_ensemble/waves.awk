# fetch-limited growth of Hs, member-dependent wind perturbation
BEGIN { srand(1000 + m); hs = 0.5 }
NR <= from { next }
{
    u = $1 * (1 + 0.1 * (rand() - 0.5))
    eq = 0.0246 * u * u
    hs += 0.3 * (eq - hs)
    printf "%d %.3f\n", NR, hs
}
