module params
  implicit none
  integer, parameter :: dp = selected_real_kind(15)
  integer :: nx = 32, steps = 10
  real(dp) :: alpha = 0.1_dp
  namelist /grid/ nx, steps, alpha
end module params
