#!/usr/bin/env python3
import argparse
import json
import random

ap = argparse.ArgumentParser()
sub = ap.add_subparsers(dest="what", required=True)
b = sub.add_parser("build")
b.add_argument("--n", type=int, required=True)
b.add_argument("--out", required=True)
r = sub.add_parser("run")
r.add_argument("--net", required=True)
r.add_argument("--steps", type=int, default=10)
r.add_argument("--out", required=True)
a = ap.parse_args()
random.seed(3)
if a.what == "build":
    w = [[random.uniform(0, 0.6) for _ in range(a.n)] for _ in range(a.n)]
    json.dump({"w": w}, open(a.out, "w"))
else:
    w = json.load(open(a.net))["w"]
    v = [0.0] * len(w)
    with open(a.out, "w") as fh:
        for t in range(a.steps):
            fired = [i for i, x in enumerate(v) if x > 1]
            for i in fired:
                fh.write("%d %d\n" % (t, i))
                v[i] = 0.0
            v = [x + 0.2 + sum(w[i][j] for j in fired) for i, x in enumerate(v)]
