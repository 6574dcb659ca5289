library(parallell)
x <- c(4.1, 5.0, 3.8, 4.4)
means <- mclapply(1:10, function(i) mean(sample(x, replace = TRUE)), mc.cores = 2)
print(sd(unlist(means)))
