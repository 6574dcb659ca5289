args <- commandArgs(trailingOnly = TRUE)
d <- read.csv(args[1])
m <- lm(weight ~ height, data = d)
print(coef(m))
if (requireNamespace("ggplot2", quietly = TRUE)) {
  library(ggplot2)
  ggsave("fit.pdf", ggplot(d, aes(height, weight)) + geom_point())
}
write.csv(data.frame(coef = coef(m)), "coef.csv")
