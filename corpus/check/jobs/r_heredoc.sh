#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=1G
Rscript - <<'RSCRIPT'
x <- c(a = 1, b = 2)
if (!all(x > 0)) stop("negative")
`odd name` <- tryCatch(stop("it's"), error = function(e) NULL)
RSCRIPT
Rscript -e 'cat(sum(1:10), "\n")'
