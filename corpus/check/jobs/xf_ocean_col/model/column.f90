program column
  implicit none
  integer :: nz, nt, k, t, u
  real :: kappa, dz, dt
  real, allocatable :: temp(:), new(:)
  namelist /grid/ nz, dz
  namelist /mixing/ kappa, dt, nt

  open(newunit=u, file='input.nml', status='old', action='read')
  read(u, nml=grid)
  rewind(u)
  read(u, nml=mixing)
  close(u)

  allocate(temp(nz), new(nz))
  do k = 1, nz
     temp(k) = 20.0 - 0.1 * real(k) * dz
  end do
  do t = 1, nt
     new = temp
     do k = 2, nz - 1
        new(k) = temp(k) + kappa * dt / dz**2 * (temp(k+1) - 2*temp(k) + temp(k-1))
     end do
     temp = new
  end do
  open(newunit=u, file='column.out')
  write(u, '(f10.4)') temp
  close(u)
end program column
