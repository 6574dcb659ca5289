# colour -> redshift with a linear template
/^#/ { next }
{
    gr = $2 - $3
    ri = $3 - $4
    z = 0.25 * gr + 0.4 * ri
    printf "%s %.3f\n", $1, z < 0 ? 0 : z
}
