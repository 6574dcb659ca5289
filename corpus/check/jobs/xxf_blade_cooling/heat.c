#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <omp.h>

#define IDX(i, j) ((size_t)(i) * n + (j))

int main(int argc, char **argv)
{
    if (argc < 3) { fprintf(stderr, "usage: heat N STEPS\n"); return 2; }
    long n = atol(argv[1]), steps = atol(argv[2]);
    double *a = calloc((size_t)n * n, sizeof *a), *b = calloc((size_t)n * n, sizeof *b);
    if (!a || !b) { perror("calloc"); return 1; }
    for (long j = 0; j < n; j++) a[IDX(0, j)] = b[IDX(0, j)] = 1450.0;   /* gas side, K */

    for (long s = 0; s < steps; s++) {
        double res = 0.0;
        #pragma omp parallel for reduction(max : res)
        for (long i = 1; i < n - 1; i++)
            for (long j = 1; j < n - 1; j++) {
                double v = 0.25 * (a[IDX(i - 1, j)] + a[IDX(i + 1, j)] + a[IDX(i, j - 1)] + a[IDX(i, j + 1)]);
                double d = fabs(v - a[IDX(i, j)]);
                if (d > res) res = d;
                b[IDX(i, j)] = v;
            }
        double *t = a; a = b; b = t;
        if (s % 1000 == 0) printf("%ld %g\n", s, res);
        if (res < 1e-7) break;
    }
    printf("centre %.3f\n", a[IDX(n / 2, n / 2)]);
    free(a); free(b);
    return 0;
}
