program mantle3d
  use grid
  implicit none
  real(dp), allocatable :: t(:,:,:), tn(:,:,:)
  integer :: i, j, k, step, nsteps
  real(dp) :: dx, dt, c, tbot, ttop
  namelist /run/ nsteps, dx, dt, tbot, ttop

  read(*, nml=run)
  allocate(t(nx, ny, nz), tn(nx, ny, nz))
  c = kappa * dt / dx**2
  !$omp parallel do
  do k = 1, nz
     t(:, :, k) = tbot + (ttop - tbot) * real(k - 1, dp) / real(nz - 1, dp)
     tn(:, :, k) = t(:, :, k)
  end do
  !$omp end parallel do
  do step = 1, nsteps
     !$omp parallel do private(i, j)
     do k = 2, nz - 1
        do j = 2, ny - 1
           do i = 2, nx - 1
              tn(i,j,k) = t(i,j,k) + c * (t(i+1,j,k) + t(i-1,j,k) + t(i,j+1,k) &
                   + t(i,j-1,k) + t(i,j,k+1) + t(i,j,k-1) - 6.0_dp * t(i,j,k))
           end do
        end do
     end do
     !$omp end parallel do
     t = tn
     if (mod(step, 100) == 0) print *, step, maxval(t)
  end do
  print *, 'mean T', sum(t) / real(size(t, kind=8), dp)
end program mantle3d
