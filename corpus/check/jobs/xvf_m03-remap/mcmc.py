#!/usr/bin/env python3
import argparse
import json
import math
import random

ap = argparse.ArgumentParser()
ap.add_argument("--chain", type=int, required=True)
ap.add_argument("--out", required=True)
a = ap.parse_args()
rng = random.Random(a.chain)
x, acc = 0.0, []
for _ in range(2000):
    y = x + rng.gauss(0, 1)
    if math.log(rng.random()) < (x * x - y * y) / 2:
        x = y
    acc.append(x)
with open(a.out, "w") as fh:
    json.dump({"chain": a.chain, "mean": sum(acc) / len(acc)}, fh)
