#!/usr/bin/env Rscript
args <- commandArgs(trailingOnly = TRUE)
n <- if (length(args) >= 1) as.integer(args[[1]]) else 100L
set.seed(42)

if (requireNamespace("data.table", quietly = TRUE)) {
  write_table <- function(x, file) data.table::fwrite(x, file)
} else {
  write_table <- function(x, file) write.csv(x, file, row.names = FALSE)
}

panel <- expand.grid(id = seq_len(n), wave = 1:4)
panel$y <- with(panel, 0.5 * wave + rnorm(nrow(panel)))
fit <- lm(y ~ factor(wave), data = panel)
print(round(coef(fit), 2))
write_table(panel, "panel.csv")
invisible(file.remove(Sys.glob("*.tmp")))
