#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef double complex cx;

static void fft(cx *a, cx *t, int n)
{
    if (n == 1)
        return;
    int h = n / 2;
    for (int i = 0; i < h; i++) {
        t[i] = a[2 * i];
        t[i + h] = a[2 * i + 1];
    }
    memcpy(a, t, n * sizeof(cx));
    fft(a, t, h);
    fft(a + h, t, h);
    for (int i = 0; i < h; i++) {
        cx w = cexp(-2 * M_PI * I * i / n) * a[i + h];
        t[i] = a[i] + w;
        t[i + h] = a[i] - w;
    }
    memcpy(a, t, n * sizeof(cx));
}

int main(int argc, char **argv)
{
    int n = 4096, signals = argc > 1 ? atoi(argv[1]) : 10;
    cx *a = malloc(n * sizeof(cx)), *t = malloc(n * sizeof(cx));
    double power = 0;
    for (int s = 0; s < signals; s++) {
        for (int i = 0; i < n; i++)
            a[i] = sin(0.01 * i * (s % 50 + 1));
        fft(a, t, n);
        power += cabs(a[s % n]);
    }
    printf("%.6g\n", power);
    free(a);
    free(t);
    return 0;
}
