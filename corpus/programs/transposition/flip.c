#include <stdio.h>
#include <stdlib.h>

/* In-place transposition of a square matrix, element by element. */
static void flip(double *m, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            double keep = m[i * n + j];
            m[i * n + j] = m[j * n + i];
            m[j * n + i] = keep;
        }
}

int main(int argc, char *argv[])
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s N TIMES\n", argv[0]);
        return 2;
    }
    size_t n = strtoul(argv[1], NULL, 10);
    int times = atoi(argv[2]);
    double *m = malloc(n * n * sizeof *m);
    if (!m)
        return 1;
    for (size_t i = 0; i < n * n; i++)
        m[i] = (double)i;
    while (times-- > 0)
        flip(m, n);
    printf("%g\n", m[1]);
    free(m);
    return 0;
}
