library(stats)
library(sandwich)
library(lmtest)

args <- commandArgs(trailingOnly = TRUE)
d    <- readRDS(args[1])
out  <- args[2]

m1 <- lm(lw ~ union + factor(year), data = d)
m2 <- lm(lw ~ union + factor(year) + factor(person), data = d)

V  <- vcovCL(m2, cluster = d$person)
ct <- coeftest(m2, vcov. = V)
write.csv(as.data.frame(unclass(ct)), file.path(out, "fe_cluster.csv"))
write.csv(summary(m1)$coefficients, file.path(out, "pooled.csv"))
