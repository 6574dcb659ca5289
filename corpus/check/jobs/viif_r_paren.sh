#!/bin/bash
#SBATCH --time=30 --mem=2G
module load R/4.3.1
R --no-save <<'EOF'
x <- seq(0, 1, length.out = 50)
y <- exp(-x) + rnorm(50, sd = .1
fit <- nls(y ~ exp(-k * x), start = list(k = 1))
print(coef(fit))
EOF
