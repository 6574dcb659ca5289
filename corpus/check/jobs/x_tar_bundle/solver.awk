{ a[$1] = $2; s += $2 }
END { for (i = 1; i in a; i++) printf "%d %.3f\n", i, a[i] / s }
