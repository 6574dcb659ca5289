program swe
  use constants
  use step
  implicit none
  real(dp) :: h(n), u(n), dt
  integer :: k, steps, i
  read (*, *) dt, steps
  u = 0
  do i = 1, n
    h(i) = depth + exp(-((i - n / 2) / 10.0_dp)**2)
  end do
  do k = 1, steps
    call advance(h, u, dt)
  end do
  do i = 1, n
    print '(i5, f12.6)', i, h(i)
  end do
end program swe
