d <- c(4.1, 3.9, 5.2)
print(sd(d))
