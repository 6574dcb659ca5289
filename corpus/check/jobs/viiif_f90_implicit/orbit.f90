program orbit
  implicit none
  integer :: i
  real(8) :: x, v
  x = 1d0
  v = 0d0
  dt = 1d-3
  do i = 1, 1000
    v = v - x * dt
    x = x + v * dt
  end do
  print *, x, v
end program orbit
