x <- c(1, 2, 3)
print(mean(x))
