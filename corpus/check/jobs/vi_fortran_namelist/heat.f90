program heat
  use, intrinsic :: iso_fortran_env, only: output_unit
  use params
  implicit none
  real(dp), allocatable :: u(:), v(:)
  integer :: i, t, unit
  open(newunit=unit, file='heat.nml', status='old', action='read')
  read(unit, nml=grid)
  close(unit)
  allocate(u(0:nx+1), v(0:nx+1), source=0.0_dp)
  u(nx/2) = 1.0_dp
  time: do t = 1, steps
    !$omp parallel do default(none) shared(u, v, nx, alpha) private(i)
    do i = 1, nx
      v(i) = u(i) + alpha * (u(i-1) - 2 * u(i) &
             + u(i+1))
    end do
    !$omp end parallel do
    u(1:nx) = v(1:nx)
  end do time
  write(output_unit, '(a,es12.4)') 'sum ', sum(u)
end program heat
