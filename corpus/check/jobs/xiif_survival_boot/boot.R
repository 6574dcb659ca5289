# bootstrap interval of the median follow-up time, per arm
args <- commandArgs(trailingOnly = TRUE)
infile <- args[1]
B <- as.integer(args[2])

d <- read.csv(infile)
set.seed(20)

one_arm <- function(x) {
  m <- replicate(B, median(sample(x, replace = TRUE)))
  quantile(m, c(0.025, 0.975))
}

res <- lapply(split(d$months, d$arm), one_arm)
tab <- data.frame(
  arm = names(res),
  lower = sapply(res, function(q) q[[1]])
  upper = sapply(res, function(q) q[[2]])
)
write.csv(tab, "median_ci.csv", row.names = FALSE)
print(tab)
