program briowu
  use state_mod
  implicit none
  integer :: n, i
  real(dp) :: t, dt, dx, amax
  type(cell_t), allocatable :: u(:), w(:)
  character(len=32) :: arg

  call get_command_argument(1, arg)
  read(arg, *) n
  allocate(u(0:n+1), w(0:n+1))
  do i = 0, n + 1
     if (i <= n/2) then
        u(i) = cell_t(1.0_dp, 0.0_dp, 1.0_dp, 1.0_dp/(gam-1) + 0.5_dp)
     else
        u(i) = cell_t(0.125_dp, 0.0_dp, -1.0_dp, 0.1_dp/(gam-1) + 0.5_dp)
     end if
  end do
  dx = 1.0_dp / n
  t = 0
  do while (t < 0.1_dp)
     amax = 0
     do i = 1, n
        amax = max(amax, abs(u(i)%mx/u(i)%rho) + fast_speed(u(i)))
     end do
     dt = 0.4_dp * dx / amax
     w = u
     do i = 1, n     ! Lax-Friedrichs, density and momentum only
        w(i)%rho = 0.5_dp*(u(i-1)%rho + u(i+1)%rho) - 0.5_dp*dt/dx*(u(i+1)%mx - u(i-1)%mx)
        w(i)%mx  = 0.5_dp*(u(i-1)%mx + u(i+1)%mx) &
             - 0.5_dp*dt/dx*(pressure(u(i+1)) - pressure(u(i-1)))
     end do
     u(1:n) = w(1:n)
     t = t + dt
  end do
  do i = 1, n
     write(*,'(4es16.7)') (i-0.5_dp)*dx, u(i)%rho, u(i)%mx/u(i)%rho, pressure(u(i))
  end do
end program briowu
