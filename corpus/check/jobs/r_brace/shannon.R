counts <- c(10, 4, 6, 0, 2)
shannon <- function(x) {
  p <- x[x > 0] / sum(x)
  -sum(p * log(p)
}
print(shannon(counts))
