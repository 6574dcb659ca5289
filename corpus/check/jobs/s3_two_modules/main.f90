program main
  use sphere_module
  implicit none
  print '(f8.3)', volume(1.5)
end program main
