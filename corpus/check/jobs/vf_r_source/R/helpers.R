clean <- function(d) d[complete.cases(d), ]
