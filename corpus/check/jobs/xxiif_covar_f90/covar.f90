program covar
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: n = 40000
  real(real64), allocatable :: b(:,:)
  real(real64) :: length, sigma, d
  integer :: i, j, ierr
  namelist /params/ length, sigma

  length = 10.0_real64
  sigma = 1.0_real64
  read (*, nml=params)

  allocate (b(n, n), stat=ierr)
  if (ierr /= 0) stop 'no memory'
  do j = 1, n
     do i = 1, n
        d = abs(i - j) / length
        b(i, j) = sigma**2 * exp(-0.5_real64 * d * d)
     end do
  end do

  open (10, file='diag.dat', status='replace')
  do i = 1, n, 1000
     write (10, '(i8,2es16.8)') i, b(i, i), sum(b(:, i))
  end do
  close (10)
end program covar
