x = 3.0
error = 1.0
while error > 1e-8:
    x = x - (x * x - 2.0) / (2.0 * x)
print(x)
