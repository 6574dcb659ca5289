import random
import sys
steps, drift = int(sys.argv[1]), float(sys.argv[2])
place = 0.0
for _ in range(steps // 2):
    place += random.choice((-1, 1)) + drift
print("place " + str(round(place)), "steps: %d" % steps)
half = steps / 2
for k in range(int(half)):
    pass
