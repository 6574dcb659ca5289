# wage regression; data.table is used when it is there, otherwise base R
args <- commandArgs(trailingOnly = TRUE)
stopifnot(length(args) == 2)

read_fast <- function(path) {
  if (requireNamespace("data.table", quietly = TRUE)) {
    as.data.frame(data.table::fread(path))
  } else {
    read.csv(path)
  }
}

library(stats)
library(parallel)
suppressWarnings(has_sandwich <- require(sandwich, quietly = TRUE))

d <- read_fast(args[1])
fit <- lm(log(wage) ~ educ + exper, data = d)
se <- if (has_sandwich) sqrt(diag(vcovHC(fit))) else sqrt(diag(vcov(fit)))

boot <- unlist(mclapply(1:200, function(i) {
  set.seed(i)
  s <- d[sample(nrow(d), replace = TRUE), ]
  coef(lm(log(wage) ~ educ, data = s))[["educ"]]
}, mc.cores = 1))

out <- data.frame(term = names(coef(fit)), estimate = coef(fit), se = se)
write.csv(out, args[2], row.names = FALSE)
cat("bootstrap sd of educ:", sd(boot, na.rm = TRUE), "\n")
