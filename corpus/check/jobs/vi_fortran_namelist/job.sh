#!/bin/bash
#SBATCH --time=10 --mem=1G --cpus-per-task=4
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}
export OMP_STACKSIZE=64M
set -e
gfortran -fopenmp -O2 -c params.f90
gfortran -fopenmp -O2 -o heat heat.f90 params.o
cat > heat.nml <<EOF
&grid
  nx = 64, steps = 100
  alpha = 1.0d-1
/
EOF
./heat
