answers <- read.cvs("answers.csv", stringsAsFactors = TRUE)
print(aggregate(score ~ region, data = answers, FUN = mean))
