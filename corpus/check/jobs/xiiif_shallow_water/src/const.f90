module constants
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  real(dp), parameter :: g = 9.81_dp, depth = 10.0_dp
  integer, parameter :: n = 200
end module constants
