program tide
  implicit none
  integer, parameter :: dp = kind(1.d0), nc = 4
  real(dp), parameter :: pi = acos(-1.d0)
  real(dp) :: period(nc) = [12.4206d0, 12.0d0, 23.9345d0, 25.8193d0]
  character(2) :: nm(nc) = ['M2', 'S2', 'K1', 'O1']
  real(dp) :: t, h, c(nc), s(nc)
  integer :: k, n, ios
  c = 0; s = 0; n = 0
  open (11, file='gauge.dat', status='old', action='read')
  do
     read (11, *, iostat=ios) t, h
     if (ios /= 0) exit
     n = n + 1
     do k = 1, nc
        c(k) = c(k) + h * cos(2 * pi * t / period(k))
        s(k) = s(k) + h * sin(2 * pi * t / period(k))
     end do
  end do
  close (11)
  if (n == 0) error stop 'no data'
  open (12, file='amplitudes.out', status='replace')
  do k = 1, nc
     write (12, '(a,f10.4)') nm(k), 2 * sqrt(c(k)**2 + s(k)**2) / n
  end do
end program tide
