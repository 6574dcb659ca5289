# the same shuffle again and again: does the mean survive?
a <- as.integer(commandArgs(trailingOnly = TRUE))
n <- a[1]
x <- as.numeric(seq_len(n))
index <- as.integer((seq_len(n) * floor(n * 0.6180339887)) %% n) + 1L
for (k in seq_len(a[2])) {
  y <- x[index]
  x <- y[index]
}
cat(mean(x), "\n")
