program orbit
  use constants, only: dp, gm
  implicit none
  integer :: steps = 10, i
  real(dp) :: dt = 0.1_dp, r(2), v(2), a(2)
  namelist /run/ steps, dt

  read (*, nml=run)
  r = [1.0_dp, 0.0_dp]; v = [0.0_dp, 1.0_dp]
  do i = 1, steps
    a = -gm * r / norm2(r)**3
    v = v + a * dt
    r = r + v * dt
  end do
  write (*, '(a, 2(1x, f0.6))') 'end', r
end program orbit
