module sphere_module
  use constants, only: pi
  implicit none
contains
  pure real function volume(r)
    real, intent(in) :: r
    volume = 4.0 / 3.0 * pi * r**3
  end function volume
end module sphere_module
