module constants
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  real(dp), parameter :: gm = 1.0_dp
end module constants
