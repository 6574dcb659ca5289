#!/bin/bash
#SBATCH --job-name=omp
#SBATCH --cpus-per-task=8
#SBATCH --mem=4G
#SBATCH --time=20
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}
export OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
cat > sum.c <<'C'
#include <stdio.h>
#include <omp.h>
int main(void) {
    double s = 0;
    #pragma omp parallel for reduction(+:s)
    for (int i = 1; i <= 1000; i++) s += 1.0 / i;
    printf("%d threads %.3f\n", omp_get_max_threads(), s);
    return 0;
}
C
gcc -fopenmp sum.c -o sum && ./sum
