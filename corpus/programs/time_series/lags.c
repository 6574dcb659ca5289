/* Autocovariance at widely spread lags of a very long record. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1u << 20;
    int lags = argc > 2 ? atoi(argv[2]) : 10;
    float *x = malloc(n * sizeof(float));
    if (!x)
        return 1;
    for (size_t i = 0; i < n; i++)
        x[i] = (float)((i * 2654435761u) >> 8 & 1023) / 512 - 1;
    for (int k = 0; k < lags; k++) {
        size_t lag = (size_t)k * (n / 2) / lags;
        double s0 = 0, s1 = 0;
        for (size_t i = 0; i + lag + 16 < n; i += 16) {
            s0 += x[i] * x[i + lag];
            s1 += x[i + 8] * x[i + lag + 8];
        }
        printf("%zu %g\n", lag, (s0 + s1) / n);
    }
    free(x);
    return 0;
}
