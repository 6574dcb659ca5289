# Within estimator of log wages, clustered by firm
library(stats)
library(data.table)

args <- commandArgs(trailingOnly = TRUE)
stopifnot(length(args) == 2)

d <- fread(args[1])
d[, lw := log(wage)]
d[, lw_dm := lw - mean(lw), by = firm]
d[, ten_dm := tenure - mean(tenure), by = firm]

m <- lm(lw_dm ~ ten_dm - 1, data = d)
u <- residuals(m)
x <- d$ten_dm
g <- tapply(u * x, d$firm, sum)
se <- sqrt(sum(g^2)) / sum(x^2)

out <- data.frame(term = "tenure", est = coef(m), se = se, n = nrow(d))
write.csv(out, args[2], row.names = FALSE)
