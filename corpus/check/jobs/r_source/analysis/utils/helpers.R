half <- function(x) x / 2
