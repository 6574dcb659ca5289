"""Bootstrap of a mean: the measurements are read once, then drawn at random many times."""
import random
import struct
import sys

with open(sys.argv[1], "rb") as f:
    raw = f.read(80_000)
values = [v % 1000 for v in struct.unpack("<10000Q", raw)]
means = []
for _ in range(int(sys.argv[2])):
    draw = random.choices(values, k=len(values))
    means.append(sum(draw) / len(draw))
means.sort()
print(means[len(means) // 40], means[-len(means) // 40])
