#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    const double beta = atof(argv[1]);
    double sum = 0, norm = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : sum, norm)
    for (int i = -20000; i <= 20000; i++) {
        double x = i * 5e-4, w = exp(-beta * (0.5 * x * x + 0.1 * x * x * x * x));
        sum += x * x * w;
        norm += w;
    }
    printf("%g %.8f\n", beta, sum / norm);
    return 0;
}
