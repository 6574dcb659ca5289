module step
  use constants
  implicit none
contains
  subroutine advance(h, u, dt)
    real(dp), intent(inout) :: h(n), u(n)
    real(dp), intent(in) :: dt
    integer :: i
    !$omp parallel do
    do i = 1, n - 1
      u(i) = u(i) - dt * g * (h(i+1) - h(i)) / 100.0_dp
    end do
    !$omp parallel do
    do i = 2, n
      h(i) = h(i) - dt * depth * (u(i) - u(i-1)) / 100.0_dp
    end do
  end subroutine advance
end module step
