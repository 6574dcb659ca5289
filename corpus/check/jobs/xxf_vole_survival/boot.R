args <- commandArgs(trailingOnly = TRUE)
task <- as.integer(args[1])
B    <- as.integer(args[2])
set.seed(7000 + task)

d <- read.csv("captures.csv")

one <- function(i) {
  s <- d[sample(nrow(d), replace = TRUE), ]
  m <- glm(alive ~ mass + snow, family = binomial, data = s)
  coef(m)
}

res <- as.data.frame(t(sapply(seq_len(B), one)))
res$task <- task
res$rep  <- seq_len(B)

# collected afterwards with collect.R
out <- file.path(getwd(), "boot_survival.csv")
write.csv(res, out, row.names = FALSE)
cat("task", task, "wrote", nrow(res), "rows\n")
