boot_mean <- function(x, n = 100) {
  vapply(seq_len(n), \(i) mean(sample(x, replace = TRUE)), numeric(1))
}
