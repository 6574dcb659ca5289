# asks a (simulated) chamber for its temperature until it is stable
limit <- as.integer(commandArgs(trailingOnly = TRUE)[1])
temperature <- 20
history <- numeric(0)
repeat {
  temperature <- temperature + (37 - temperature) * 0.3
  history <- c(history, temperature)
  cat(sprintf("%5.2f\n", temperature))
  if (length(history) > 3 && sd(tail(history, 3)) < 0.01) break
  if (length(history) >= limit) {
    message("not stable yet")
    break
  }
  Sys.sleep(0.4)
}
