BEGIN { srand(1); for (i = 0; i < n; i++) printf "%08d %s%d\n", rand() * 1e8, (i % 2) ? "left" : "right", i }
