program heat
  use grid, only: n, laplace
  implicit none
  real :: u(n), dt = 0.1
  integer :: i, steps
  namelist /run/ steps, dt
  read (*, nml=run)
  u = 0.0; u(n/2) = 1.0
  do i = 1, steps
    u = u + dt * laplace(u)
  end do
  print '(a,f8.4)', 'sum', sum(u)
end program heat
