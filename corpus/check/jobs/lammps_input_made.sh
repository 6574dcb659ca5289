#!/bin/bash
#SBATCH --ntasks=16
#SBATCH --nodes=1
#SBATCH --mem-per-cpu=1G
#SBATCH -t 12:00:00
module load gcc/12.2.0 openmpi/4.1.5 lammps/2023
cat > melt.in <<'IN'
units lj
lattice fcc 0.8442
region box block 0 10 0 10 0 10
run 1000
IN
srun lmp -in melt.in -log melt.log
