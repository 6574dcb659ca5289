module constants
  implicit none
  real, parameter :: pi = 3.14159265
end module constants
