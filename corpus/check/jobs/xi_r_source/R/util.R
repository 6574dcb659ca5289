parse_opts <- function(x) {
  kv <- strsplit(sub("^--", "", x), "=", fixed = TRUE)
  setNames(lapply(kv, `[`, 2), vapply(kv, `[`, "", 1))
}
