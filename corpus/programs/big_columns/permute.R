# bootstrap of a mean: draw with replacement, many times
a <- as.integer(commandArgs(trailingOnly = TRUE))
n <- a[1]
x <- as.numeric(seq_len(n)) %% 1000
index <- as.integer((seq_len(n) * 7919 + 13) %% n) + 1L
for (k in seq_len(a[2])) {
  y <- x[index]
  x <- y + 1
}
cat(mean(x), "\n")
