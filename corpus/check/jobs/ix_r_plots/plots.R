#!/usr/bin/env Rscript
fig <- "figures"
if (!dir.exists(fig)) dir.create(fig, recursive = TRUE)
d <- data.frame(x = 1:10, y = (1:10)^2)
pdf(file.path(fig, "sq.pdf")); plot(y ~ x, data = d, type = "b"); invisible(dev.off())
write.csv(d, file = "figures/sq.csv", row.names = FALSE)
back <- read.csv("figures/sq.csv")
stopifnot(identical(back$x, d$x))
