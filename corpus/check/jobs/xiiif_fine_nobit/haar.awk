NR % 2 { left = $1; next }
{
    printf "a %.4f\n", (left + $1) / sqrt(2)
    printf "d%d %.4f\n", lv, (left - $1) / sqrt(2)
}
