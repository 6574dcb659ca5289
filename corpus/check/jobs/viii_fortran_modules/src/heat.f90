program heat
  use kinds, only: dp
  implicit none
  integer :: n = 8, steps = 1, i
  real(dp), allocatable :: u(:)
  namelist /par/ n, steps
  read (*, nml=par)
  allocate (u(0:n + 1), source=0._dp)
  u(0) = 1
  do i = 1, steps
    u(1:n) = u(1:n) + .25_dp * (u(0:n - 1) - 2 * u(1:n) + u(2:n + 1))
  end do
  write (*, '(*(f6.3))') u
end program heat
