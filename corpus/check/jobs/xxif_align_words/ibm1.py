#!/usr/bin/env python3
"""IBM model 1, ten rounds of EM."""
import sys
from collections import defaultdict

with open(sys.argv[1]) as f, open(sys.argv[2]) as g:
    pairs = [(a.split(), b.split()) for a, b in zip(f, g)]
t = defaultdict(lambda: 0.25)
for _ in range(10):
    count, total = defaultdict(float), defaultdict(float)
    for src, trg in pairs:
        for e in trg:
            z = sum(t[e, s] for s in src)
            for s in src:
                count[e, s] += t[e, s] / z
                total[s] += t[e, s] / z
    for (e, s), c in count.items():
        t[e, s] = c / total[s]
for (e, s), p in sorted(t.items()):
    print(s, e, f"{p:.4f}", sep="\t")
