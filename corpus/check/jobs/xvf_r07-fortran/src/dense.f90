program dense
  use iso_fortran_env, only: real64, int64
  implicit none
  integer, parameter :: n = 30000
  real(real64), allocatable :: a(:,:), b(:,:)
  integer :: i, j

  allocate (a(n, n), b(n, n))
  do j = 1, n
    do i = 1, n
      a(i, j) = sin(real(i, real64)) * cos(real(j, real64))
      b(i, j) = a(i, j) * 0.5_real64
    end do
  end do
  print *, 'trace', sum([(a(i, i) + b(i, i), i = 1, n)])
end program dense
