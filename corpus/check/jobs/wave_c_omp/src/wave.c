#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "grid.h"

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 16;
    double *u = grid_new(n), total = 0.0;
    if (!u) {
        fprintf(stderr, "out of memory\n");
        return EXIT_FAILURE;
    }
#pragma omp parallel for reduction(+ : total)
    for (int i = 0; i < n; i++) {
        u[i] = sin(2.0 * 3.14159265358979 * i / n);
        total += u[i] * u[i];
    }
    printf("%.6f\n", total);
    free(u);
    return EXIT_SUCCESS;
}
