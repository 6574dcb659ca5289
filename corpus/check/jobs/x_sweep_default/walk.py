#!/usr/bin/env python3
import argparse, random
ap = argparse.ArgumentParser()
ap.add_argument("--steps", type=int, required=True)
ap.add_argument("--p", type=float, required=True)
ap.add_argument("--seed", type=int, default=0)
ap.add_argument("--out", default="walk.txt")
a = ap.parse_args()
random.seed(a.seed)
x = 0
with open(a.out, "w") as fh:
    for i in range(a.steps):
        x += 1 if random.random() < a.p else -1
        fh.write("%d %d\n" % (i, x))
