args <- commandArgs(trailingOnly = TRUE)
stopifnot(length(args) == 2L)
n <- as.integer(args[[1]])
boot <- function(x, stat = mean, ...) vapply(seq_len(n), \(i) stat(sample(x, replace = TRUE), ...), numeric(1))
`%||%` <- function(a, b) if (is.null(a)) b else a
means <- with(mtcars, boot(mpg, na.rm = TRUE))
res <- means |> quantile(c(.025, .975))
if (requireNamespace("ggplot2", quietly = TRUE)) {
  message("could plot") # ggplot2::qplot(means)
}
saveRDS(res %||% NA, file = args[[2]])
