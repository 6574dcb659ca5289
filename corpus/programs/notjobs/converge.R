set.seed(2)
x <- c(rnorm(4000, 2), rnorm(6000, 7, 2))
mu <- c(1, 5); s <- c(1, 1); w <- 0.5
repeat {
  a <- w * dnorm(x, mu[1], s[1])
  b <- (1 - w) * dnorm(x, mu[2], s[2])
  p <- a / (a + b)
  old <- mu
  mu <- c(weighted.mean(x, p), weighted.mean(x, 1 - p))
  s <- sqrt(c(weighted.mean((x - mu[1])^2, p), weighted.mean((x - mu[2])^2, 1 - p)))
  w <- mean(p)
  if (max(abs(mu - old)) < 1e-10) break
}
print(mu)
