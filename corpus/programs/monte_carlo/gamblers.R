# How long until a gambler is ruined?
args <- as.integer(commandArgs(trailingOnly = TRUE))
games <- args[1]
set.seed(11)

play <- function(money, goal) {
  rounds <- 0
  while (money > 0 && money < goal) {
    money <- money + if (runif(1) < 0.49) 1 else -1
    rounds <- rounds + 1
  }
  c(rounds, money)
}

results <- matrix(0, nrow = games, ncol = 2)
for (g in seq_len(games)) {
  results[g, ] <- play(20, 50)
}
cat("mean rounds:", mean(results[, 1]), "\n")
cat("ruined:", mean(results[, 2] == 0), "\n")
