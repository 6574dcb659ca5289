source("R/helpers.R")

yields <- c(4.1, 5.0, 3.8, 4.7)
cat(standard_error(yields), "\n")
