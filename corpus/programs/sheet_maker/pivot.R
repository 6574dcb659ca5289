# pivot tables over invented orders
argv <- commandArgs(trailingOnly = TRUE)
n <- as.integer(argv[1])
rounds <- as.integer(argv[2])
set.seed(3)
orders <- data.frame(
  region = sample(c("north", "south", "east", "west"), n, TRUE),
  product = sprintf("p%02d", sample(30, n, TRUE)),
  month = sample(12, n, TRUE),
  amount = round(rexp(n, 0.02), 2)
)
for (r in seq_len(rounds)) {
  part <- orders[orders$month != r, ]
  wide <- xtabs(amount ~ region + product, part)
  key <- paste(part$region, part$product, sep = "/")
  med <- tapply(part$amount, key, function(v) quantile(v, c(.1, .5, .9)))
  model <- aggregate(amount ~ region + product + month, data = part, FUN = mean)
  cat(r, dim(wide), length(med), nrow(model), "\n")
}
write.csv(as.data.frame(wide), "pivot.csv")
