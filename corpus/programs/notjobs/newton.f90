program newton
  implicit none
  real(8) :: x, step
  integer :: k, n
  do k = 1, 3000000
    x = 1.0d0 + 1.0d-6 * k
    n = 0
    do
      step = (x**3 - 2 * x - 5) / (3 * x**2 - 2)
      x = x - step
      n = n + 1
      if (abs(step) < 1d-14 .or. n > 50) exit
    end do
  end do
  print *, x, n
end program
