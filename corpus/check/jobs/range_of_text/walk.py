import random
import sys
steps = sys.argv[1]
place = 0
for _ in range(steps):
    place += random.choice((-1, 1))
print(place)
