#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc < 3) return 2;
    FILE *f = fopen(argv[1], "r");
    if (!f) { perror(argv[1]); return 1; }
    double x[1000], h = atof(argv[2]) / 10;
    int n = 0;
    while (n < 1000 && fscanf(f, "%lf", &x[n]) == 1) n++;
    fclose(f);
    double ll = 0;
    #pragma omp parallel for reduction(+:ll)
    for (int i = 0; i < n; i++) {
        double s = 1e-300;
        for (int j = 0; j < n; j++)
            if (j != i) s += exp(-0.5 * pow((x[i] - x[j]) / h, 2)) / h;
        ll += log(s / (n - 1));
    }
    printf("%g %g\n", h, ll);
    return 0;
}
