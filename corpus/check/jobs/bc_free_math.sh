#!/bin/bash
#SBATCH -J grid
#SBATCH -n 1
#SBATCH -t 15
#SBATCH --mem-per-cpu=500
declare -A mass=([H]=1.008 [O]=15.999)
total=$(python3 -c "print(2*${mass[H]} + ${mass[O]})")
printf 'M(H2O) = %.3f\n' "$total"
