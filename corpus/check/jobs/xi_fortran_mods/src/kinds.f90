module kinds
  implicit none
  integer, parameter :: dp = selected_real_kind(12)
end module kinds
