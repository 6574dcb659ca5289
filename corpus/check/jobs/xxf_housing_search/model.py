#!/usr/bin/env python3
import json
import random
import sys

step, src, dst = sys.argv[1:4]
if step == "est":
    with open(src) as fh:
        m = dict(l.split() for l in fh if l.strip())
    theta = {"lam": 1 / float(m["duration"]), "mu": float(m["wage"]), "sd": float(m["sd"])}
    with open(dst, "w") as fh:
        json.dump(theta, fh)
elif step == "sim":
    with open(src) as fh:
        th = json.load(fh)
    rng = random.Random(int(sys.argv[4]))
    n, t = 20000, 0.0
    for _ in range(n):
        while True:
            t += rng.expovariate(th["lam"])
            if rng.gauss(th["mu"], th["sd"]) > th["mu"]:
                break
    with open(dst, "w") as fh:
        fh.write("%.4f\n" % (t / n))
else:
    v = [float(open(f).read()) for f in src.split(",")]
    with open(dst, "w") as fh:
        fh.write("mean %.4f min %.4f max %.4f\n" % (sum(v) / len(v), min(v), max(v)))
