# evolve bit strings towards a target, keep a checkpoint for restarts
args <- as.integer(commandArgs(trailingOnly = TRUE))
generations <- args[1]
size <- args[2]
set.seed(5)
target <- sample(0:1, 200, replace = TRUE)
population <- matrix(sample(0:1, 200 * size, replace = TRUE), nrow = size)
fitness <- function(who) {
  score <- 0
  for (i in seq_along(who)) {
    if (who[i] == target[i]) score <- score + 1
    if (i > 1 && who[i] == who[i - 1]) score <- score + 0.001
  }
  score
}
for (g in seq_len(generations)) {
  scores <- numeric(size)
  for (k in seq_len(size)) for (again in 1:4) scores[k] <- fitness(population[k, ])
  best <- order(scores, decreasing = TRUE)[seq_len(size %/% 2)]
  parents <- population[best, ]
  children <- parents
  flips <- matrix(runif(length(children)) < 0.01, nrow = nrow(children))
  children[flips] <- 1 - children[flips]
  population <- rbind(parents, children)
  if (g %% 10 == 0) saveRDS(list(g = g, population = population), "checkpoint.rds")
}
cat("best", max(scores), "\n")
