args <- commandArgs(trailingOnly = TRUE)
if (length(args) != 2) stop("usage: fe.R panel.csv out.txt")

demean <- function(x, group) {
  x - ave(x, group)
}

d <- read.csv(args[1], stringsAsFactors = FALSE)
d$y_t <- demean(log(d$wage), d$firm)
d$x_t <- demean(d$tenure, by = d$firm)

fit <- lm(y_t ~ x_t - 1, data = d)
sink(args[2])
print(summary(fit)$coefficients)
sink()
