module state_mod
  implicit none
  integer, parameter :: dp = selected_real_kind(15, 307)
  real(dp), parameter :: gam = 2.0_dp
  type :: cell_t
     real(dp) :: rho, mx, by, e
  end type cell_t
contains
  pure function pressure(c) result(p)
    type(cell_t), intent(in) :: c
    real(dp) :: p
    p = (gam - 1) * (c%e - 0.5_dp * c%mx**2 / c%rho - 0.5_dp * c%by**2)
  end function pressure

  pure function fast_speed(c) result(a)
    type(cell_t), intent(in) :: c
    real(dp) :: a
    a = sqrt((gam * pressure(c) + c%by**2 + 0.5625_dp) / c%rho)
  end function fast_speed
end module state_mod
