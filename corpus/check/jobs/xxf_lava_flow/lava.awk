NR == 1 { nx = $1; ny = $2; next }
{ for (i = 1; i <= nx; i++) z[NR - 2, i - 1] = $i }
END {
    x = vx; y = vy
    for (s = 0; s < nx * ny; s++) {
        printf "%d %d %.1f\n", x, y, z[y, x]
        bx = x; by = y
        for (j = -1; j <= 1; j++)
            for (i = -1; i <= 1; i++)
                if (((y + j, x + i) in z) && z[y + j, x + i] < z[by, bx]) { bx = x + i; by = y + j }
        if (bx == x && by == y) break
        x = bx; y = by
    }
}
