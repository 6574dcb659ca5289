args <- as.numeric(commandArgs(TRUE))
set.seed(1)
clean <- 0
for (batch in seq_len(args[1])) {
  text <- sprintf(" %s ; %.3f€", sample(month.name, args[2], TRUE), rnorm(args[2], 50, 12))
  parts <- strsplit(text, ";", fixed = TRUE)
  name <- toupper(trimws(vapply(parts, `[`, "", 1)))
  value <- as.numeric(gsub("[^0-9.-]", "", vapply(parts, `[`, "", 2)))
  for (pass in 1:3) {
    keep <- abs(value - ave(value, name, FUN = median)) < 3 * ave(value, name, FUN = mad)
    name <- name[keep]
    value <- value[keep]
  }
  clean <- clean + length(value)
}
cat(clean, "rows\n")
