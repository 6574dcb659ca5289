#!/bin/bash
#SBATCH --time=1:00:00 --mem=2G
module load R/4.3.1
cat > run.R <<'EOF'
n <- as.integer(Sys.getenv("SLURM_CPUS_PER_TASK", "1"))
if (n > 1) {
  message("parallel on ", n)
}
else {
  message("serial")
}
x <- rnorm(100)
write.csv(data.frame(x), "x.csv")
EOF
Rscript run.R
