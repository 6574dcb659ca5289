a <- commandArgs(TRUE)
d <- read.csv(a[1])
d$subject <- factor(d$subject)

# EM for a random intercept, no lme4 needed
em <- function(y, x, g, n = 200) {
  b <- coef(lm(y ~ x)); su <- 1; se <- 1
  for (i in seq_len(n)) {
    r <- y - b[1] - b[2] * x
    ng <- tapply(r, g, length); mg <- tapply(r, g, mean)
    sh <- su / (su + se / ng)
    u <- sh * mg
    v <- su * (1 - sh)
    su <- mean(u^2 + v)
    b <- coef(lm(y - u[g] ~ x))
    se <- mean((y - u[g] - b[1] - b[2] * x)^2 + v[g])
  }
  list(beta = b, var_u = su, var_e = se)
}
f <- em(d$rt, d$day, d$subject)
print(f)
saveRDS(f, a[2])
