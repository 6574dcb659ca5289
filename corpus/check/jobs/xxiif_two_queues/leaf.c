/* fit of a rectangular hyperbola by brute force */
#include <float.h>
#include <stdio.h>
#define N 100
int main(int argc, char **argv)
{
    double x[N], y[N], best = DBL_MAX, ba = 0, bk = 0;
    int n = 0;
    FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (!f) { perror("leaf"); return 1; }
    while (n < N && fscanf(f, "%lf %lf", &x[n], &y[n]) == 2) n++;
    fclose(f);
#pragma omp parallel for
    for (int i = 1; i <= 400; i++)
        for (int j = 1; j <= 2000; j++) {
            double a = 0.1 * i, k = j, s = 0;
            for (int m = 0; m < n; m++) { double r = y[m] - a * x[m] / (k + x[m]); s += r * r; }
#pragma omp critical
            if (s < best) { best = s; ba = a; bk = k; }
        }
    printf("%s Amax %.1f K %.0f rss %.3f\n", argv[1], ba, bk, best);
    return 0;
}
