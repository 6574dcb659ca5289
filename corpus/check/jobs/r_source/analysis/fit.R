source("helpers.R")
print(half(10))
