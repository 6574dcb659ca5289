{ h = int(($2 + shift) / 3600); n[h " " $3]++; t[h " " $3] += $4 }
END { for (k in n) printf "%s %d %.3f\n", k, n[k], t[k] / n[k] }
