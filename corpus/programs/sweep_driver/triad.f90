program triad
  implicit none
  integer :: n, rounds, i
  real(8), allocatable :: a(:), b(:), c(:)
  character(32) :: word
  call get_command_argument(1, word); read (word, *) n
  call get_command_argument(2, word); read (word, *) rounds
  allocate (a(n), b(n), c(n))
  b = 1.5d0; c = 0.25d0; a = 0
  do i = 1, rounds
    a = b + 3.0d0 * c
    b = a - c
  end do
  print *, n, sum(a) / n
end program
