library(parallel)
library(stats)
if (requireNamespace("data.table", quietly = TRUE)) {
  reader <- function(f) as.data.frame(data.table::fread(f))
} else {
  reader <- read.csv
}

args <- commandArgs(TRUE)
d <- reader(args[1])
cores <- as.integer(Sys.getenv("SLURM_CPUS_PER_TASK", "1"))
RNGkind("L'Ecuyer-CMRG")
set.seed(5)

boot <- mclapply(1:2000, function(i) {
  s <- d[sample(nrow(d), replace = TRUE), ]
  quantile(s$yield, 0.9) - mean(s$yield)
}, mc.cores = cores)

dir.create("out", showWarnings = FALSE)
g <- unlist(boot)
write.csv(data.frame(gap = mean(g), lo = quantile(g, .025), hi = quantile(g, .975)),
          file.path("out", "gap.csv"), row.names = FALSE)
