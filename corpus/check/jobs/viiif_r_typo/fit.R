# growth curve
d <- raed.csv("growth.csv")
m <- lm(mass ~ day, data = d)
print(coef(m))
write.csv(d, "out.csv", row.names = FALSE)
