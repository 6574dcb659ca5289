# UPGMA with noise per replicate; prints one Newick string
{ name[NR] = $1; for (j = 2; j <= NF; j++) d[NR, j - 1] = $j; n = NR }
END {
    srand(1000 + rep)
    for (i = 1; i <= n; i++) {
        size[i] = 1; live[i] = 1
        for (j = 1; j < i; j++) d[i, j] = d[j, i] = d[i, j] * (0.9 + 0.2 * rand())
    }
    for (left = n; left > 1; left--) {
        best = -1
        for (i = 1; i <= n; i++) if (live[i])
            for (j = i + 1; j <= n; j++) if (live[j])
                if (best < 0 || d[i, j] < best) { best = d[i, j]; a = i; b = j }
        for (k = 1; k <= n; k++) if (live[k] && k != a && k != b)
            d[a, k] = d[k, a] = (size[a] * d[a, k] + size[b] * d[b, k]) / (size[a] + size[b])
        name[a] = "(" name[a] "," name[b] ")"
        size[a] += size[b]; live[b] = 0
    }
    print name[1] ";"
}
