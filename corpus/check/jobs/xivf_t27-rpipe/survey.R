pat <- r"(^\d{4}-\d{2}$)"
d <- read.csv("survey.csv") |> subset(age >= 18)
d <- d[grepl(pat, d$month), ]
sq <- (\(x) x^2)(d$score)
cat(sprintf("n=%d mean=%.2f\n", nrow(d), mean(sq)))
if (nrow(d) == 0) {
  quit(status = 1)
} else {
  saveRDS(d, "adults.rds")
}
