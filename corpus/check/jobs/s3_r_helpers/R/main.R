args <- commandArgs(trailingOnly = TRUE)
if (length(args) < 1) {
  stop("usage: main.R DATA [ROUNDS]")
} else {
  rounds <- if (length(args) > 1) as.integer(args[2]) else 1L
}
source(file.path("R", "helpers.R"))
d <- read.csv(args[1])
print(smooth_mean(d$x, rounds))
