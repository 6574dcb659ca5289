! Mean of co-registered satellite images, band by band, with a mask for clouds.
program mosaic
  implicit none
  integer :: n, scenes, s, i
  real, allocatable :: scene(:), total(:)
  integer, allocatable :: seen(:)
  character(10) :: arg
  call get_command_argument(1, arg); read (arg, *) n
  call get_command_argument(2, arg); read (arg, *) scenes
  allocate (scene(n), total(n), seen(n))
  total = 0
  seen = 0
  do s = 1, scenes
    do i = 1, n
      scene(i) = real(mod(i + s, 100))
    end do
    where (scene < 90.0)
      total = total + scene
      seen = seen + 1
    end where
  end do
  print *, sum(total / max(seen, 1)) / n
end program
