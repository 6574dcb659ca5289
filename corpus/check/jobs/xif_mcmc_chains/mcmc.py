#!/usr/bin/env python3
import argparse
import json
import math
import random

p = argparse.ArgumentParser()
p.add_argument("--seed", type=int)
p.add_argument("--n", type=int)
a = p.parse_args()
random.seed(a.seed)
x = json.load(open("start.json"))["x"]


def logp(v):
    return -0.5 * (v - 1) ** 2


for _ in range(a.n):
    y = x + random.gauss(0, 1)
    if math.log(random.random() + 1e-300) < logp(y) - logp(x):
        x = y
    print("%.4f" % x)
