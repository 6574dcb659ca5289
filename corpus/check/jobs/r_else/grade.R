marks <- c(12, 15, 9)
if (mean(marks) > 10) {
  cat("passed\n")
}
else {
  cat("failed\n")
}
