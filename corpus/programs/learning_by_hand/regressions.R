# One small regression per gene, with a permutation test.
args <- as.integer(commandArgs(trailingOnly = TRUE))
genes <- args[1]; permutations <- args[2]
set.seed(3)
n <- 60
dose <- runif(n)
age <- rnorm(n, 50, 10)
design <- cbind(1, dose, age)
significant <- 0
for (g in 1:genes) {
  y <- rnorm(n) + 0.3 * (g %% 10 == 0) * dose
  t0 <- abs(qr.coef(qr(design), y)[2])
  above <- 0
  for (p in 1:permutations) {
    shuffled <- design
    shuffled[, 2] <- sample(dose)
    if (abs(qr.coef(qr(shuffled), y)[2]) >= t0) above <- above + 1
  }
  if (above / permutations < 0.05) significant <- significant + 1
}
cat(significant, "of", genes, "genes\n")
