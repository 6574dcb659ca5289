#!/bin/bash
#SBATCH -t 15
#SBATCH --mem=500M
#SBATCH -n 1
set -e
module load gcc/12.2.0
cat > lattice.f90 <<'END_SOURCE'
program lattice
  implicit none
  integer :: i, total
  total = 0
  do i = 1, 10
     total = total + i*i
  print *, total
end program lattice
END_SOURCE
gfortran lattice.f90 -o lattice && ./lattice
