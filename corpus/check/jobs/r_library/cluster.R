library(stats)
library(clustr2)
d <- dist(matrix(c(1, 2, 3, 4, 5, 6), ncol = 2))
print(hclust(d))
