/* explicit heat equation in 2D, fixed boundary */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 256;
    int steps = argc > 2 ? atoi(argv[2]) : 100;
    double *u = calloc((size_t)n * n, sizeof *u);
    double *w = calloc((size_t)n * n, sizeof *w);
    if (!u || !w) { perror("calloc"); return 1; }
    for (int j = 0; j < n; j++) u[j] = w[j] = 100.0;
    printf("# threads %d\n", omp_get_max_threads());
    for (int s = 0; s < steps; s++) {
        double r = 0;
#pragma omp parallel for reduction(max:r)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) {
                size_t k = (size_t)i * n + j;
                w[k] = 0.25 * (u[k-1] + u[k+1] + u[k-n] + u[k+n]);
                r = fmax(r, fabs(w[k] - u[k]));
            }
        double *t = u; u = w; w = t;
        if (s % 500 == 0) printf("%d %g\n", s, r);
    }
    free(u); free(w);
    return 0;
}
