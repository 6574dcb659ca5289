#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 64;
    int steps = argc > 2 ? atoi(argv[2]) : 100;
    double *a = calloc((size_t)n * n, sizeof *a);
    double *b = calloc((size_t)n * n, sizeof *b);
    for (int j = 0; j < n; j++) a[j] = b[j] = 100.0;
    for (int s = 0; s < steps; s++) {
        #pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                b[i*n+j] = a[i*n+j] + 0.2 * (a[(i-1)*n+j] + a[(i+1)*n+j]
                         + a[i*n+j-1] + a[i*n+j+1] - 4 * a[i*n+j]);
        double *t = a; a = b; b = t;
    }
    for (int i = 0; i < n; i++) printf("%g\n", a[i*n + n/2]);
    free(a); free(b);
    return 0;
}
