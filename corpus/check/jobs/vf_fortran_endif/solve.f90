program solve
  implicit none
  integer :: i
  real :: x
  x = 0.0
  do i = 1, 10
    if (mod(i, 2) == 0) then
      x = x + 1.0 / i
  end do
  print *, x
end program solve
