a <- commandArgs(TRUE)
spk <- read.csv(a[1])
tok <- read.csv(a[2])

vowel <- aggregate(f1 ~ speaker, data = tok, FUN = mean)
j <- merge(spk, vowel, by.x = "speaker_id", by.y = "speaker")
j$f1 <- round(j$f1, 1)
write.table(j[order(j$region), ], a[3], sep = "\t", quote = FALSE, row.names = FALSE)
