program wave
  use kinds
  use params
  implicit none
  real(dp), allocatable :: u(:), v(:), w(:)
  integer :: i, t
  call read_params()
  allocate(u(nx), v(nx), w(nx))
  do i = 1, nx
     u(i) = exp(-0.1_dp * (i - nx / 2)**2)
  end do
  v = u; w = 0
  do t = 1, nt
     w(2:nx-1) = 2*v(2:nx-1) - u(2:nx-1) + c**2 * (v(3:nx) - 2*v(2:nx-1) + v(1:nx-2))
     u = v; v = w
  end do
  open(10, file='wave.dat')
  do i = 1, nx
     write(10, *) i, v(i)
  end do
  close(10)
end program wave
