#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    size_t n = strtoul(argv[1], NULL, 10);
    int rounds = atoi(argv[2]);
    double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
    for (size_t i = 0; i < n; i++)
        x[i] = 1.0, y[i] = 0.5;
    for (int r = 0; r < rounds; r++)
        for (size_t i = 0; i < n; i++)
            y[i] += 0.5 * x[i];
    printf("%zu %g\n", n, y[n / 2]);
    return 0;
}
