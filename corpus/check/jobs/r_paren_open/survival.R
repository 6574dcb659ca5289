ages <- c(61, 58, 70)
alive <- c(TRUE, FALSE, TRUE)
cat(paste0("mean age of survivors: ", mean(ages[alive]), "\n")
write.csv(data.frame(ages, alive), "survival.csv")
