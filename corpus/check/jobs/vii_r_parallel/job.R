#!/usr/bin/env Rscript
#SBATCH --job-name=boot
#SBATCH --cpus-per-task=6
#SBATCH --mem=6G
#SBATCH --time=01:30:00
suppressPackageStartupMessages({
  library(parallel)
  library(stats4)
})
cores <- as.integer(Sys.getenv("SLURM_CPUS_PER_TASK", unset = 1))
RNGkind("L'Ecuyer-CMRG"); set.seed(42)
boot <- function(i, x = faithful$eruptions, ...) {
  y <- sample(x, replace = TRUE)
  c(mean = mean(y), sd = sd(y))[["mean"]]
}
res <- mclapply(seq_len(1e3), boot, mc.cores = cores)
m <- do.call(rbind, lapply(res, as.numeric))
q <- quantile(m[, 1], probs = c(.05, .95), names = FALSE)
repeat {
  if (diff(q) < 1) break
  q <- q / 2
}
cat(sprintf("CI: [%.2f, %.2f]\n", q[1], q[2]))
if (!interactive()) quit(save = "no", status = 0L)
