counts <- read.csv("moths_count.csv")
print(tapply(counts$n, counts$trap, sum))
