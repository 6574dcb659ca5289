import random
import sys

# Estimate pi. More darts, more digits.
darts = int(sys.argv[1])
inside = 0
for _ in range(darts):
    x, y = random.random(), random.random()
    if x * x + y * y <= 1.0:
        inside += 1
print(4 * inside / darts)
