program dense
  use iso_fortran_env, only: real32
  implicit none
  integer, parameter :: n = 8000
  real(real32), allocatable :: a(:,:), b(:,:)
  integer :: i, j

  allocate (a(n, n), b(n, n))
  do concurrent (j = 1:n, i = 1:n)
    a(i, j) = 1.0_real32 / real(i + j, real32)
    b(i, j) = a(i, j) * 0.5_real32
  end do
  print '(a, f8.4)', 'trace ', sum([(a(i, i) + b(i, i), i = 1, n)])
  if (any(b > a)) error stop 'b above a'
end program dense
