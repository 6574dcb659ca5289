#include <stdio.h>
#include <stdlib.h>
#include "kernel.h"

int main(int argc, char **argv)
{
    int nx, ny, steps;
    double nu;
    FILE *fh = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (!fh || fscanf(fh, "%d %d %lf %d", &nx, &ny, &nu, &steps) != 4) {
        fprintf(stderr, "no configuration\n");
        return 1;
    }
    fclose(fh);
    double *a = calloc((size_t)nx * ny, sizeof *a), *b = calloc((size_t)nx * ny, sizeof *b);
    if (!a || !b) return 1;
    for (int i = 0; i < nx; i++) a[i] = b[i] = 1.0;
    for (int s = 0; s < steps; s++) {
        double c = relax(b, a, nx, ny, nu);
        double *t = a; a = b; b = t;
        if (s % 100 == 0) printf("%d %g\n", s, c);
    }
    free(a); free(b);
    return 0;
}
