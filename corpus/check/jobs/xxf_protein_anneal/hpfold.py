#!/usr/bin/env python3
import json
import math
import os
import random
import sys

seq, total = sys.argv[1], int(sys.argv[2])
LEG = 20000
MOVES = {"U": (0, 1), "D": (0, -1), "L": (-1, 0), "R": (1, 0)}


def energy(walk):
    pos = [(0, 0)]
    for m in walk:
        dx, dy = MOVES[m]
        pos.append((pos[-1][0] + dx, pos[-1][1] + dy))
    if len(set(pos)) < len(pos):
        return None
    at = {p: i for i, p in enumerate(pos)}
    e = 0
    for p, i in at.items():
        if seq[i] != "H":
            continue
        for q in ((p[0] + 1, p[1]), (p[0], p[1] + 1)):
            j = at.get(q)
            if j is not None and abs(i - j) > 1 and seq[j] == "H":
                e -= 1
    return e


if os.path.exists("state.json"):
    with open("state.json") as fh:
        st = json.load(fh)
else:
    st = {"step": 0, "walk": "R" * (len(seq) - 1), "best": 0, "bw": ""}

rng = random.Random(st["step"])
walk, e = st["walk"], energy(st["walk"])
for _ in range(LEG):
    st["step"] += 1
    k = rng.randrange(len(walk))
    new = walk[:k] + rng.choice("UDLR") + walk[k + 1:]
    en = energy(new)
    if en is not None and (en <= e or rng.random() < math.exp((e - en) / 0.6)):
        walk, e = new, en
        if e < st["best"]:
            st["best"], st["bw"] = e, walk
    if st["step"] >= total:
        break
st["walk"] = walk
if st["step"] < total:
    with open("state.tmp", "w") as fh:
        json.dump(st, fh)
    os.replace("state.tmp", "state.json")
    sys.exit(85)
with open("best.txt", "w") as fh:
    fh.write("%d %s\n" % (st["best"], st["bw"]))
