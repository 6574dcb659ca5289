#!/bin/bash
#SBATCH --time=20
#SBATCH --mem=1G
set -e
cat > flow.f90 <<'SRC'
program flow
  implicit none
  real :: h(10)
  integer :: k
  do k = 1, 10
    h(k) = 100.0 - k
  end do
  print *, sum(height)
end program flow
SRC
gfortran -o flow flow.f90
./flow
