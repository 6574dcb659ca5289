# Needleman-Wunsch score: match +1, mismatch -1, gap -2
function max3(a, b, c) { m = a > b ? a : b; return m > c ? m : c }
{
    n = length($1); m0 = length($2)
    for (i = 0; i <= n; i++) F[i, 0] = -2 * i
    for (j = 0; j <= m0; j++) F[0, j] = -2 * j
    for (i = 1; i <= n; i++)
        for (j = 1; j <= m0; j++) {
            s = substr($1, i, 1) == substr($2, j, 1) ? 1 : -1
            F[i, j] = max3(F[i-1, j-1] + s, F[i-1, j] - 2, F[i, j-1] - 2)
        }
    print $1, $2, F[n, m0]
}
