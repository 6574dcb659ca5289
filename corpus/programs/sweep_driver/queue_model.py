import random
import sys

load, customers = float(sys.argv[1]), int(sys.argv[2])
rng = random.Random(17)
clock = free = waited = 0.0
for _ in range(customers):
    clock += rng.expovariate(load)
    start = max(clock, free)
    waited += start - clock
    free = start + rng.expovariate(1.0)
print(f"{load:.2f} {waited / customers:.3f}")
