#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void merge_sort(int *a, int *t, long n)
{
    if (n <= 32) {
        for (long i = 1; i < n; i++) {
            int v = a[i];
            long j = i;
            for (; j > 0 && a[j - 1] > v; j--)
                a[j] = a[j - 1];
            a[j] = v;
        }
        return;
    }
    long h = n / 2, i = 0, j = h, k = 0;
    merge_sort(a, t, h);
    merge_sort(a + h, t, n - h);
    while (i < h && j < n)
        t[k++] = a[j] < a[i] ? a[j++] : a[i++];
    while (i < h)
        t[k++] = a[i++];
    memcpy(a, t, k * sizeof *a);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 1000000;
    int *a = malloc(n * sizeof *a), *t = malloc(n * sizeof *t);
    unsigned x = 1;
    for (long i = 0; i < n; i++)
        a[i] = (x = x * 1664525u + 1013904223u) >> 1;
    merge_sort(a, t, n);
    printf("%d %d\n", a[0], a[n - 1]);
    return 0;
}
