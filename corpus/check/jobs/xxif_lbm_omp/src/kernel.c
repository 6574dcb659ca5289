#include <math.h>
#include "kernel.h"

double relax(double *restrict f, const double *restrict g, int nx, int ny, double nu)
{
    double change = 0.0;
#pragma omp parallel for reduction(+ : change)
    for (int j = 1; j < ny - 1; j++)
        for (int i = 1; i < nx - 1; i++) {
            int k = j * nx + i;
            f[k] = g[k] + nu * (g[k - 1] + g[k + 1] + g[k - nx] + g[k + nx] - 4 * g[k]);
            change += fabs(f[k] - g[k]);
        }
    return change;
}
