# Which periods are in a tide gauge's record? Welch's method by hand.
a <- commandArgs(TRUE)
stations <- as.integer(a[1])
segment <- 2048L
best <- numeric(stations)
for (s in seq_len(stations)) {
  hours <- seq_len(24 * 365)
  level <- 2 * cos(2 * pi * hours / 12.42) + 0.5 * cos(2 * pi * hours / 23.93) + rnorm(length(hours))
  starts <- seq(1, length(level) - segment, by = segment %/% 2)
  power <- rep(0, segment)
  for (b in starts) {
    piece <- level[b:(b + segment - 1)]
    power <- power + Mod(fft(piece - mean(piece)))^2
  }
  best[s] <- segment / (which.max(power[2:(segment / 2)]))
}
print(table(round(best, 1)))
