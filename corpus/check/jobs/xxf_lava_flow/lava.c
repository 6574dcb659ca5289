#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc != 4) return 2;
    FILE *f = fopen(argv[1], "r");
    if (!f) { perror(argv[1]); return 1; }
    static double z[64][64];
    int nx, ny;
    if (fscanf(f, "%d %d", &nx, &ny) != 2 || nx > 64 || ny > 64) return 1;
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++)
            if (fscanf(f, "%lf", &z[j][i]) != 1) return 1;
    fclose(f);
    int x = atoi(argv[2]), y = atoi(argv[3]);
    for (int s = 0; s < nx * ny; s++) {
        printf("%d %d %.1f\n", x, y, z[y][x]);
        int bx = x, by = y;
        for (int j = -1; j <= 1; j++)
            for (int i = -1; i <= 1; i++) {
                int u = x + i, v = y + j;
                if (u < 0 || v < 0 || u >= nx || v >= ny) continue;
                if (z[v][u] < z[by][bx]) { bx = u; by = v; }
            }
        if (bx == x && by == y) break;
        x = bx; y = by;
    }
    return 0;
}
