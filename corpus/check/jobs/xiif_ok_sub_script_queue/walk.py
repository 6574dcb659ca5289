#!/usr/bin/env python3
import argparse
import random

p = argparse.ArgumentParser()
p.add_argument("--seed", type=int, required=True)
p.add_argument("--label", default="walk")
a = p.parse_args()
rng = random.Random(a.seed)
x = 0
for _ in range(1000):
    x += rng.choice((-1, 1))
print(a.label, x)
