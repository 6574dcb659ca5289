! Compare loop orders of a matrix product.
program triple_loop
  implicit none
  integer :: n, i, j, k, repeat, r
  real(8), allocatable :: a(:,:), b(:,:), c(:,:)
  character(len=10) :: text
  call get_command_argument(1, text); read (text, *) n
  call get_command_argument(2, text); read (text, *) repeat
  allocate (a(n,n), b(n,n), c(n,n))
  call random_number(a)
  call random_number(b)
  do r = 1, repeat
    c = 0
    do j = 1, n
      do k = 1, n
        do i = 1, n
          c(i, j) = c(i, j) + a(i, k) * b(k, j)
        end do
      end do
    end do
    a(1, 1) = c(n, n) / n
  end do
  print *, sum(c)
end program
