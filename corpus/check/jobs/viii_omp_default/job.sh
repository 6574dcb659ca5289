#!/bin/bash
#SBATCH -c 4
#SBATCH --time=10
#SBATCH --mem=1G
set -e
: "${OMP_NUM_THREADS:=${SLURM_CPUS_PER_TASK:-1}}"
export OMP_NUM_THREADS OMP_PLACES=cores
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT
cat > "$tmp/pi.c" <<'EOF'
#include <math.h>
#include <stdio.h>
#ifdef _OPENMP
#include <omp.h>
#else
#define omp_get_max_threads() 1
#endif
int main(void) {
    double s = 0;
    #pragma omp parallel for reduction(+:s)
    for (int i = 0; i < 1000000; ++i) s += 4 / (1 + pow((i + .5) / 1e6, 2));
    return printf("%d threads: %.6f\n", omp_get_max_threads(), s / 1e6) < 0;
}
EOF
gcc -O2 -fopenmp "$tmp/pi.c" -lm -o "$tmp/pi"
"$tmp/pi"
