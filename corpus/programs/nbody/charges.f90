module forces
  implicit none
contains
  pure subroutine coulomb(n, p, q, f)
    integer, intent(in) :: n
    real(8), intent(in) :: p(3, n), q(n)
    real(8), intent(out) :: f(3, n)
    integer :: i, j
    real(8) :: d(3), r2
    f = 0
    do i = 1, n
      do j = 1, n
        if (i == j) cycle
        d = p(:, i) - p(:, j)
        r2 = dot_product(d, d) + 1d-3
        f(:, i) = f(:, i) + q(i) * q(j) * d / (r2 * sqrt(r2))
      end do
    end do
  end subroutine
end module

program charges
  use forces
  implicit none
  integer :: n, steps, k
  real(8), allocatable :: p(:,:), v(:,:), f(:,:), q(:)
  character(len=8) :: arg
  call get_command_argument(1, arg); read (arg, *) n
  call get_command_argument(2, arg); read (arg, *) steps
  allocate (p(3, n), v(3, n), f(3, n), q(n))
  call random_number(p)
  v = 0
  q = 1
  q(::2) = -1
  do k = 1, steps
    call coulomb(n, p, q, f)
    v = v + 1d-5 * f
    p = p + 1d-3 * v
  end do
  print '(3f10.5)', sum(p, 2) / n
end program
