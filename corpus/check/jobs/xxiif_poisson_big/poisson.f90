program poisson
  ! one single-precision field of 20000 x 20000 points is 1.6e9 bytes (1.49 GiB),
  ! it is relaxed in place so that there is no second one
  implicit none
  integer, parameter :: n = 20000, sweeps = 200
  real(4), allocatable :: u(:,:)
  integer :: i, j, s
  allocate (u(n, n))
  u = 0.0
  u(:, 1) = 1.0
  do s = 1, sweeps
     do j = 2, n - 1
        do i = 2, n - 1
           u(i, j) = 0.25 * (u(i-1, j) + u(i+1, j) + u(i, j-1) + u(i, j+1))
        end do
     end do
  end do
  open (20, file='centre.txt', status='replace')
  write (20, *) u(n/2, 2), u(n/2, 3), u(n/2, 10)
  close (20)
end program poisson
