module params
  use kinds, only: dp
  implicit none
  integer :: nx = 10, nt = 5
  real(dp) :: c = 0.1_dp
contains
  subroutine read_params()
    namelist /run/ nx, nt, c
    read(*, nml=run)
  end subroutine read_params
end module params
