smooth_mean <- function(x, rounds) {
  for (k in seq_len(rounds)) x <- (x + mean(x)) / 2
  mean(x)
}
