! Ising model with Metropolis updates; saves the lattice every 100 sweeps
program ising
  implicit none
  integer :: n, sweeps, s, k, i, j, around
  integer, allocatable :: spin(:, :)
  real :: r, beta
  integer(8) :: seed
  character(32) :: word
  call get_command_argument(1, word); read (word, *) n
  call get_command_argument(2, word); read (word, *) sweeps
  allocate (spin(n, n)); spin = 1
  beta = 0.43; seed = 12345_8
  do s = 1, sweeps
    do k = 1, n * n
      i = 1 + int(next() * n); j = 1 + int(next() * n)
      around = spin(1 + mod(i, n), j) + spin(1 + mod(i + n - 2, n), j) &
             + spin(i, 1 + mod(j, n)) + spin(i, 1 + mod(j + n - 2, n))
      if (next() < exp(-2.0 * beta * spin(i, j) * around)) spin(i, j) = -spin(i, j)
    end do
    if (mod(s, 100) == 0) call save_state(s)
  end do
  print *, 'magnetization', abs(sum(spin)) / real(n * n)
contains
  real function next()
    seed = iand(seed * 1103515245_8 + 12345_8, 2147483647_8)
    next = real(seed / 2147483648.0d0)
  end function
  subroutine save_state(step)
    integer, intent(in) :: step
    integer :: unit
    open (newunit=unit, file='ising.chk', form='unformatted', status='replace')
    write (unit) step, seed, spin
    flush (unit)
    close (unit)
  end subroutine
end program
