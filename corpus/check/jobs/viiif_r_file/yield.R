args <- commandArgs(trailingOnly = TRUE)
infile <- if (length(args) > 0) args[1] else "yield.tsv"
y <- read.delim(infile)
cat(sprintf("mean %.1f kg\n", mean(y$kg)))
