program morse
  implicit none
  integer, parameter :: dp = selected_real_kind(15)
  real(dp) :: r, de, a, re, v
  namelist /point/ r, de, a, re
  read (*, nml=point)
  v = de*(1.0_dp - exp(-a*(r - re)))**2
  write (*, '(2f14.8)') r, v
end program morse
