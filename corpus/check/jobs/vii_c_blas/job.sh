#!/bin/bash
#SBATCH --time=10 --mem=1G -c 2
set -e
cat > mm.c <<'EOF'
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct { size_t n; double *restrict a; } mat;

static mat make(size_t n)
{
    mat m = { .n = n, .a = calloc(n * n, sizeof(double)) };
    if (m.a == NULL) { perror("calloc"); exit(EXIT_FAILURE); }
    return m;
}

int main(int argc, char *argv[])
{
    size_t n = 64;
    for (int c; (c = getopt(argc, argv, "n:h")) != -1;)
        switch (c) {
        case 'n': n = strtoul(optarg, NULL, 10); break;
        case 'h': puts("mm [-n N]"); return 0;
        default: return 2;
        }
    mat x = make(n), y = make(n), z = make(n);
    for (size_t i = 0; i < n * n; ++i) x.a[i] = y.a[i] = (double)i / n;
    struct timespec t0, t1;
    clock_gettime(CLOCK_MONOTONIC, &t0);
#pragma omp parallel for collapse(2)
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < n; ++j) {
            double s = 0;
            for (size_t k = 0; k < n; ++k) s += x.a[i * n + k] * y.a[k * n + j];
            z.a[i * n + j] = s;
        }
    clock_gettime(CLOCK_MONOTONIC, &t1);
    printf("%s %zu %g %d\n", __func__, n, z.a[n], t1.tv_sec >= t0.tv_sec);
    free(x.a); free(y.a); free(z.a);
    return errno == ENOMEM;
}
EOF
gcc -std=c11 -O2 -fopenmp -Wall -Wextra mm.c -o mm
OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1} ./mm -n 32
