! least significant digit radix sort
program radix
  implicit none
  integer :: n, rounds, r, digit, i, d
  integer, allocatable :: a(:), b(:)
  integer :: counts(0:65535), total, c
  character(20) :: word
  call get_command_argument(1, word); read (word, *) n
  call get_command_argument(2, word); read (word, *) rounds
  allocate (a(n), b(n))
  do r = 1, rounds
    do i = 1, n
      a(i) = iand(ieor(i * 1664525, ishft(i, -3) * 1013904223 + r), 2147483647)
    end do
    do digit = 0, 1
      counts = 0
      do i = 1, n
        d = iand(ishft(a(i), -16 * digit), 65535)
        counts(d) = counts(d) + 1
      end do
      total = 1
      do d = 0, 65535
        c = counts(d); counts(d) = total; total = total + c
      end do
      do i = 1, n
        d = iand(ishft(a(i), -16 * digit), 65535)
        b(counts(d)) = a(i)
        counts(d) = counts(d) + 1
      end do
      a = b
    end do
    print *, a(1), a(n / 2), a(n), all(a(2:) >= a(:n - 1))
  end do
end program
