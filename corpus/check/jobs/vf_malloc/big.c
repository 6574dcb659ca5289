#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 1000000000L

int main(void)
{
    double *a = malloc(N * sizeof *a);
    if (!a) return 1;
    memset(a, 1, N * sizeof *a);
    printf("%g\n", a[N / 2]);
    free(a);
    return 0;
}
