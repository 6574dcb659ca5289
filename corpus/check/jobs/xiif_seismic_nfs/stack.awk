# one trace per line; prints the mean trace
/^#/ { next }
{
    for (i = 1; i <= NF; i++) sum[i] += $i
    if (NF > width) width = NF
    n++
}
END { for (i = 1; i <= width; i++) printf "%d %.4f\n", i, sum[i] / n }
