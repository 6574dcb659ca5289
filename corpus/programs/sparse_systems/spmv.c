/* y = A x for a random sparse matrix in CSR form, again and again. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t state = 0x9E3779B97F4A7C15u;

static uint32_t rnd(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
}

int main(int argc, char **argv)
{
    int n = atoi(argv[1]), per_row = 8, rounds = atoi(argv[2]);
    int *start = malloc((n + 1) * sizeof(int));
    int *column = malloc((size_t)n * per_row * sizeof(int));
    double *value = malloc((size_t)n * per_row * sizeof(double));
    double *x = malloc(n * sizeof(double)), *y = malloc(n * sizeof(double));
    (void)argc;
    for (int i = 0; i <= n; i++)
        start[i] = i * per_row;
    for (int k = 0; k < n * per_row; k++) {
        column[k] = rnd() % n;
        value[k] = 1.0 / per_row;
    }
    for (int i = 0; i < n; i++)
        x[i] = i % 10;
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < n; i++) {
            double sum = 0;
            for (int k = start[i]; k < start[i + 1]; k++)
                sum += value[k] * x[column[k]];
            y[i] = sum;
        }
        double *keep = x;
        x = y;
        y = keep;
    }
    printf("%f\n", x[n / 2]);
    return 0;
}
