# our packages are not those of the cluster
.libPaths(c(normalizePath("../rlib"), .libPaths()))
suppressPackageStartupMessages(library(betareg))
library(gamlss)

args <- commandArgs(trailingOnly = TRUE)
plots <- read.csv(args[1], stringsAsFactors = TRUE)

plain <- betareg(cover ~ elevation + aspect, data = plots)
inflated <- gamlss(cover ~ elevation, family = BEZI, data = plots)

sink(args[2])
print(summary(plain))
print(AIC(inflated))
sink()
