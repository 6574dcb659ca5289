program cavity
  implicit none
  integer, parameter :: n = 129, nsteps = 20000, every = 500
  real(8) :: psi(n,n), om(n,n), omn(n,n), h, dt, nu
  integer :: i, j, k, u
  character(len=32) :: fname

  h = 1d0/(n-1); nu = 1d-3; dt = 0.2d0*min(h, h*h/(4*nu))
  psi = 0; om = 0; omn = 0
  do k = 1, nsteps
     do j = 2, n-1
        do i = 2, n-1
           psi(i,j) = 0.25d0*(psi(i+1,j)+psi(i-1,j)+psi(i,j+1)+psi(i,j-1)+h*h*om(i,j))
        end do
     end do
     om(:,n) = -2*psi(:,n-1)/h**2 - 2/h
     om(:,1) = -2*psi(:,2)/h**2
     om(1,:) = -2*psi(2,:)/h**2
     om(n,:) = -2*psi(n-1,:)/h**2
     do j = 2, n-1
        do i = 2, n-1
           omn(i,j) = om(i,j) + dt*( &
                -(psi(i,j+1)-psi(i,j-1))*(om(i+1,j)-om(i-1,j))/(4*h*h) &
                +(psi(i+1,j)-psi(i-1,j))*(om(i,j+1)-om(i,j-1))/(4*h*h) &
                + nu*(om(i+1,j)+om(i-1,j)+om(i,j+1)+om(i,j-1)-4*om(i,j))/h**2)
        end do
     end do
     om(2:n-1,2:n-1) = omn(2:n-1,2:n-1)
     if (mod(k, every) == 0) then
        write(fname, '("fields/step_",i4.4,".dat")') k/every
        open(newunit=u, file=fname, action='write')
        do j = 1, n
           write(u, '(129es12.4)') psi(:,j)
        end do
        close(u)
     end if
  end do
end program cavity
