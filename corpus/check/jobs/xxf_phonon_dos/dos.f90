program dos
  implicit none
  integer :: nk, nbin, i, j, k, b
  real(8) :: q(3), w, wmax
  real(8), parameter :: pi = 3.14159265358979d0
  integer, allocatable :: hist(:)
  namelist /grid/ nk, nbin

  nk = 40; nbin = 100
  read(*, nml=grid)
  allocate(hist(nbin)); hist = 0
  wmax = 4d0
  !$omp parallel do collapse(3) private(q, w, b) reduction(+:hist)
  do k = 1, nk
     do j = 1, nk
        do i = 1, nk
           q = 2*pi*[real(i,8), real(j,8), real(k,8)]/nk
           w = sqrt(max(0d0, 12d0 - 4d0*(cos(q(1)/2)*cos(q(2)/2) &
                + cos(q(2)/2)*cos(q(3)/2) + cos(q(3)/2)*cos(q(1)/2))))
           b = min(nbin, 1 + int(w/wmax*nbin))
           hist(b) = hist(b) + 1
        end do
     end do
  end do
  !$omp end parallel do
  do b = 1, nbin
     write(*, '(f8.4,1x,es12.4)') (b-0.5d0)*wmax/nbin, hist(b)/real(nk,8)**3
  end do
end program dos
