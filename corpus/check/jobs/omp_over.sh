#!/bin/bash
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=2:00:00
export OMP_NUM_THREADS=16
cat > pi.c <<'C'
#include <omp.h>
#include <stdio.h>
int main(void) { printf("%d\n", omp_get_max_threads()); return 0; }
C
gcc -fopenmp pi.c -o pi && ./pi
