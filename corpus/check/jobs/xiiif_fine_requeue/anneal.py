import argparse
import math
import os
import pickle
import random
import signal
import sys

p = argparse.ArgumentParser()
p.add_argument("--size", type=int, default=8)
p.add_argument("--sweeps", type=int, default=100)
p.add_argument("--checkpoint", required=True)
a = p.parse_args()

stop = False


def handler(signum, frame):
    global stop
    stop = True


signal.signal(signal.SIGTERM, handler)

L = a.size
if os.path.exists(a.checkpoint):
    with open(a.checkpoint, "rb") as fh:
        start, spin, J, rng = pickle.load(fh)
else:
    rng = random.Random(2)
    start = 0
    spin = [rng.choice((-1, 1)) for _ in range(L * L)]
    J = [(rng.choice((-1, 1)), rng.choice((-1, 1))) for _ in range(L * L)]


def field(i):
    x, y = i % L, i // L
    right, down = y * L + (x + 1) % L, (y + 1) % L * L + x
    left, up = y * L + (x - 1) % L, (y - 1) % L * L + x
    return J[i][0] * spin[right] + J[i][1] * spin[down] + J[left][0] * spin[left] + J[up][1] * spin[up]


for sweep in range(start, a.sweeps):
    T = 3.0 * (1 - sweep / a.sweeps) + 0.05
    for _ in range(L * L):
        i = rng.randrange(L * L)
        dE = 2 * spin[i] * field(i)
        if dE <= 0 or rng.random() < math.exp(-dE / T):
            spin[i] = -spin[i]
    if stop or sweep % 100 == 99:
        with open(a.checkpoint, "wb") as fh:
            pickle.dump((sweep + 1, spin, J, rng), fh)
    if stop:
        sys.exit(0)
print("energy", -sum(spin[i] * field(i) for i in range(L * L)) / 2)
