# Ordinary kriging of rainfall at the points of a grid.
n <- as.integer(commandArgs(TRUE))[1]
set.seed(8)
stations <- 120
x <- runif(stations); y <- runif(stations)
rain <- sin(5 * x) + cos(4 * y) + rnorm(stations, sd = 0.1)
covariance <- function(d) exp(-d / 0.3)
d <- as.matrix(dist(cbind(x, y)))
k <- rbind(cbind(covariance(d), 1), c(rep(1, stations), 0))
inverse <- solve(k)
grid <- seq(0, 1, length.out = n)
estimate <- matrix(0, n, n)
for (i in seq_len(n)) for (j in seq_len(n)) {
  to <- covariance(sqrt((x - grid[i])^2 + (y - grid[j])^2))
  weights <- inverse %*% c(to, 1)
  estimate[i, j] <- sum(weights[1:stations] * rain)
}
print(summary(as.vector(estimate)))
