module grid
  implicit none
  integer, parameter :: n = 32
contains
  pure function laplace(u) result(d)
    real, intent(in) :: u(n)
    real :: d(n)
    d = 0.0
    d(2:n-1) = u(1:n-2) - 2*u(2:n-1) + u(3:n)
  end function
end module
