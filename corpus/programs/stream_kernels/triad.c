#include <stdio.h>
#include <stdlib.h>

/* a = b + s * c, the classic */
int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 10000000, t, times = argc > 2 ? atol(argv[2]) : 10;
    double *a = malloc(n * sizeof(double)), *b = malloc(n * sizeof(double)), *c = malloc(n * sizeof(double));
    for (long i = 0; i < n; i++) {
        b[i] = 1.0;
        c[i] = 2.0;
    }
    for (t = 0; t < times; t++) {
        double s = 0.1 * t;
        for (long i = 0; i < n; i++)
            a[i] = b[i] + s * c[i];
        double *k = b;
        b = a;
        a = k;
    }
    printf("%g\n", b[n - 1]);
    return 0;
}
