program plate
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  real(dp), allocatable :: u(:,:), v(:,:)
  character(len=16) :: word
  integer :: n, steps, k, i, j

  call get_command_argument(1, word)
  read (word, *) n
  call get_command_argument(2, word)
  read (word, *) steps
  allocate (u(n, n), v(n, n))
  u = 0.0_dp
  u(1, :) = 100.0_dp
  v = u
  do k = 1, steps
    do j = 2, n - 1
      do i = 2, n - 1
        v(i, j) = 0.25_dp * (u(i-1, j) + u(i+1, j) + u(i, j-1) + u(i, j+1))
      end do
    end do
    u = v
  end do
  print '(a, f12.6)', 'residual heat ', sum(u) / real(n, dp)**2
end program plate
