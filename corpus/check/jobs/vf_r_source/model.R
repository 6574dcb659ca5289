library(stats)
source("R/helper.R")
d <- clean(mtcars)
print(summary(lm(mpg ~ wt, data = d)))
