"""Look names up in a large dictionary, in random order."""
import array
import random
import sys

entries, lookups = int(sys.argv[1]), int(sys.argv[2])
random.seed(2)
numbers = {i * 2654435761 % (1 << 40): i for i in range(entries)}
keys = array.array("q", numbers)
found = 0
for _ in range(lookups):
    key = keys[int(random.random() * entries)]
    found += numbers[key] & 1
print(found)
