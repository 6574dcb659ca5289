args <- commandArgs(trailingOnly = TRUE)
wages <- read.csv(args[1], stringsAsFactors = FALSE)
reps <- as.integer(args[2])
target <- args[3]

demean <- function(v, g) v - ave(v, g)

estimate <- function(d) {
  y <- demean(d$lwage, d$firm)
  x <- demean(d$tenure, d$firm)
  sum(x * y) / sum(x^2)
}

set.seed(1998)
firms <- unique(wages$firm)
draw <- function() {
  pick <- sample(firms, replace = TRUE)
  parts <- lapply(seq_along(pick), function(i) {
    d <- wages[wages$firm == pick[i], ]
    d$firm <- i
    d
  })
  estimate(do.call(rbind, parts))
}
b <- replicate(reps, draw())
out <- data.frame(file = basename(args[1]), beta = estimate(wages), se = sd(b))
write.csv(out, target, row.names = FALSE)
