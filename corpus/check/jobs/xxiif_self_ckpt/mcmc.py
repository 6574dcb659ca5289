#!/usr/bin/env python3
import argparse
import json
import math
import os
import random
import sys
import time

ap = argparse.ArgumentParser()
ap.add_argument("--steps", type=int, required=True)
ap.add_argument("--seed", type=int, default=0)
o = ap.parse_args()
counts = [int(x) for x in open("counts.txt").read().split()]
st = {"i": 0, "lam": 1.0}
if os.path.exists("chain.ckpt"):
    with open("chain.ckpt") as fh:
        st = json.load(fh)
rng = random.Random(o.seed * 1000003 + st["i"])


def logp(l):
    return sum(k * math.log(l) - l for k in counts)


t0 = time.time()
with open("samples.txt", "a") as out:
    while st["i"] < o.steps:
        new = st["lam"] * math.exp(rng.gauss(0, 0.2))
        if math.log(rng.random()) < logp(new) - logp(st["lam"]):
            st["lam"] = new
        st["i"] += 1
        if st["i"] % 1000 == 0:
            out.write("%d %.5f\n" % (st["i"], st["lam"]))
            if time.time() - t0 > 3600:
                break
if st["i"] < o.steps:
    with open("chain.ckpt", "w") as fh:
        json.dump(st, fh)
    sys.exit(85)
