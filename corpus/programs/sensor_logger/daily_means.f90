program daily_means
  ! Writes readings as text, reads them back and averages them per hour.
  implicit none
  integer :: n, i, unit, hour, status
  real(8) :: at, value, sums(0:23)
  integer :: counts(0:23)
  character(64) :: word, line
  call get_command_argument(1, word)
  read (word, *) n
  open (newunit=unit, file='readings.txt', status='replace')
  do i = 1, n
    write (unit, '(F12.2,1X,F9.4)') i * 30.0d0, 15 + 8 * sin(i * 30 / 13750.0d0)
  end do
  rewind (unit)
  sums = 0; counts = 0
  do
    read (unit, '(A)', iostat=status) line
    if (status /= 0) exit
    read (line, *) at, value
    hour = int(mod(at / 3600, 24.0d0))
    sums(hour) = sums(hour) + value
    counts(hour) = counts(hour) + 1
  end do
  close (unit, status='delete')
  print '(I3,F9.3)', (i, sums(i) / max(counts(i), 1), i=0, 23, 6)
end program
