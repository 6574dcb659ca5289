args <- commandArgs(trailingOnly = TRUE)
d <- read.csv(args[1], stringsAsFactors = FALSE)
d <- d[!is.na(d$wage) & d$wage > 0, ]
d$lw <- log(d$wage)
# drop singletons
n <- table(d$person)
d <- d[d$person %in% names(n)[n > 1], ]
stopifnot(nrow(d) > 0)
saveRDS(d, args[2])
