#!/bin/bash
#SBATCH -J fort
#SBATCH -t 0:10:00
#SBATCH -n 1
#SBATCH --mem=1000
module load gcc/12.2.0
cat > pi.f90 <<'END'
program pi
  implicit none
  integer :: i
  double precision :: s
  s = 0d0
  do i = 0, 100000
     s = s + (-1d0)**i / (2*i + 1)
  end do
  print '(f10.6)', 4*s
end program pi
END
gfortran -O2 pi.f90 -o pi.x && ./pi.x
