set.seed(1)
n <- 200
results <- numeric(n)
for (i in seq_len(n)) {
  s <- sample(mtcars$mpg, replace = TRUE)
  results[i] <- mean(s)
}
cat(quantile(reslts, c(.025, .975)), "\n")
