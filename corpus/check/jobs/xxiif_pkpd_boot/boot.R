library(parallel)
a <- commandArgs(TRUE)
d <- read.csv(a[1]); nc <- as.integer(a[2]); B <- as.integer(a[3])
fit <- function(i) {
  ids <- sample(unique(d$id), replace = TRUE)
  x <- do.call(rbind, lapply(ids, function(k) d[d$id == k, ]))
  m <- lm(log(conc) ~ time, data = x)
  c(k = -unname(coef(m)[2]), c0 = exp(unname(coef(m)[1])))
}
RNGkind("L'Ecuyer-CMRG"); set.seed(7)
r <- do.call(rbind, mclapply(seq_len(B), fit, mc.cores = nc))
q <- apply(r, 2, quantile, c(.025, .5, .975))
write.csv(q, "boot_ci.csv")
