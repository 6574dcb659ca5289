# linear fit of yield against dose
dat <- read.csv("plots.csv", header = TRUE stringsAsFactors = FALSE)
m <- lm(yield ~ dose, data = dat)
s <- summary(m)
cat("r squared", s$r.squared, "\n")
out <- data.frame(term = rownames(coef(s)), coef(s))
write.csv(out, "coefs.csv", row.names = FALSE)
