/* Gaussian kernel density of ages at marriage */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    double *x = malloc(1000000 * sizeof *x), out[101];
    size_t n = 0;
    FILE *f = fopen(argc > 1 ? argv[1] : "", "r");
    if (!f || !x) { perror("input"); return 1; }
    while (n < 1000000 && fscanf(f, "%lf", &x[n]) == 1) n++;
    fclose(f);
    if (n == 0) return 1;
#pragma omp parallel for schedule(dynamic)
    for (int g = 0; g <= 100; g++) {
        double s = 0, h = 1.5;
        for (size_t i = 0; i < n; i++) s += exp(-0.5 * pow((g - x[i]) / h, 2));
        out[g] = s / (n * h * 2.5066282746);
    }
    for (int g = 15; g <= 100; g++) printf("%d %.6f\n", g, out[g]);
    free(x);
    return 0;
}
