#!/usr/bin/env python3
# pure python so that it runs on every slot
import argparse
import math
import random

p = argparse.ArgumentParser()
p.add_argument("--seed", type=int)
p.add_argument("--hidden", type=int, default=4)
p.add_argument("--epochs", type=int, default=1000)
a = p.parse_args()
rng = random.Random(a.seed)

X = [((0, 0), 0), ((0, 1), 1), ((1, 0), 1), ((1, 1), 0)]
W = [[rng.uniform(-1, 1) for _ in range(3)] for _ in range(a.hidden)]
V = [rng.uniform(-1, 1) for _ in range(a.hidden + 1)]

for ep in range(a.epochs):
    loss = 0.0
    for (x1, x2), t in X:
        h = [math.tanh(w[0] * x1 + w[1] * x2 + w[2]) for w in W]
        y = 1 / (1 + math.exp(-(sum(v * q for v, q in zip(V, h)) + V[-1])))
        loss += (y - t) ** 2
        d = (y - t) * y * (1 - y)
        for i, w in enumerate(W):
            g = d * V[i] * (1 - h[i] ** 2)
            w[0] -= 0.8 * g * x1
            w[1] -= 0.8 * g * x2
            w[2] -= 0.8 * g
        for i in range(a.hidden):
            V[i] -= 0.8 * d * h[i]
        V[-1] -= 0.8 * d
print(a.seed, a.hidden, a.epochs, round(loss, 6))
