program heat2d
  ! explicit scheme for the heat equation on a square plate
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  integer :: n, nsteps, i, j, it
  real(dp) :: alpha, change
  real(dp), allocatable :: u(:,:), unew(:,:)

  read (*,*) n, nsteps
  read (*,*) alpha
  allocate (u(0:n+1,0:n+1), unew(0:n+1,0:n+1))
  u = 0.0_dp
  u(0,:) = 100.0_dp
  unew = u

  do it = 1, nsteps
     do j = 1, n
        do i = 1, n
           laplace = u(i+1,j) + u(i-1,j) + u(i,j+1) + u(i,j-1) - 4.0_dp*u(i,j)
           unew(i,j) = u(i,j) + alpha*laplace
        end do
     end do
     change = maxval(abs(unew - u))
     u = unew
     if (mod(it, 100) == 0) print '(i6,2f14.6)', it, change, u(n/2,n/2)
     if (change < 1.0e-8_dp) exit
  end do

  print '(a,f12.6)', 'centre temperature: ', u(n/2,n/2)
  deallocate (u, unew)
end program heat2d
