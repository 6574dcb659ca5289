module grid
  implicit none
  integer, parameter :: dp = selected_real_kind(15)
  ! 2.5 km cells since the review
  integer, parameter :: nx = 1600, ny = 1600, nz = 960
  real(dp), parameter :: kappa = 1.0e-6_dp
end module grid
