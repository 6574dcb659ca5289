#!/usr/bin/env python3
"""Stochastic SIR, one run, prints the epidemic curve."""
import argparse
import random

p = argparse.ArgumentParser()
p.add_argument("--beta", type=float, required=True)
p.add_argument("--gamma", type=float, required=True)
p.add_argument("--seed", type=int, required=True)
a = p.parse_args()
rng = random.Random(a.seed)
S, I, R = 990, 10, 0
day = 0
while I and day < 300:
    new = sum(rng.random() < a.beta * I / 1000 for _ in range(S))
    rec = sum(rng.random() < a.gamma for _ in range(I))
    S, I, R = S - new, I + new - rec, R + rec
    day += 1
    print(day, S, I, R)
