program sweep
  implicit none
  integer :: i, j
  real :: a(10, 10)
  do i = 1, 10
    do j = 1, 10
      a(i, j) = real(i) / real(j)
  end do
  print *, sum(a)
end program sweep
