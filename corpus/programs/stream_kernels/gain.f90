! Calibrate a long series of samples: offset, gain, clipping; one array operation each.
program gain
  implicit none
  real, allocatable :: s(:), offset(:), g(:)
  integer :: n, passes, p
  character(len=12) :: w
  call get_command_argument(1, w)
  read (w, *) n
  call get_command_argument(2, w)
  read (w, *) passes
  allocate (s(n), offset(n), g(n))
  s = 1.5; offset = 0.25; g = 1.01
  do p = 1, passes
    s = s - offset
    s = s * g
    s = min(max(s, -10.0), 10.0)
  end do
  write (*, *) s(1), s(n)
end program gain
