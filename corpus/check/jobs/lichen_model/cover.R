plots <- data.frame(
  site = c("a", "b", "c")
  cover = c(0.2, 0.5, 0.4)
)
print(mean(plots$cover))
