library(parallel)

heights <- c(1.71, 1.64, 1.80, 1.75, 1.69, 1.92)
one <- function(i) mean(sample(heights, replace = TRUE))
means <- mclapply(1:2000, one, mc.cores = 32)
cat(quantile(unlist(means), c(0.025, 0.975)), "\n")
