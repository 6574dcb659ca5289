module kinds
  use, intrinsic :: iso_fortran_env, only: dp => real64
  implicit none
  private
  public :: dp
end module kinds
