program heat
  implicit none
  integer, parameter :: n = 50
  real :: t(n), old(n), alpha
  integer :: step, i

  t = 0.0
  t(1) = 100.0
  alpha = 0.2
  dt = 0.1
  do step = 1, 200
    old = t
    do i = 2, n - 1
      t(i) = old(i) + alpha * (old(i - 1) - 2.0 * old(i) + old(i + 1))
    end do
  end do
  print *, t(n / 2)
end program heat
