#!/usr/bin/env python3
"""One bootstrap replicate: resampled columns, average linkage tree."""
import random
import sys


def read_fasta(path):
    seqs, name = {}, None
    with open(path) as fh:
        for line in fh:
            line = line.strip()
            if line.startswith(">"):
                name = line[1:]
                seqs[name] = ""
            elif name:
                seqs[name] += line
    return seqs


def distance(a, b):
    return sum(x != y for x, y in zip(a, b)) / len(a)


def tree(seqs):
    groups = {k: [v] for k, v in seqs.items()}
    while len(groups) > 1:
        names = sorted(groups)
        pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1:]]
        a, b = min(pairs, key=lambda p: sum(distance(x, y) for x in groups[p[0]] for y in groups[p[1]])
                   / (len(groups[p[0]]) * len(groups[p[1]])))
        groups[f"({a},{b})"] = groups.pop(a) + groups.pop(b)
    return next(iter(groups)) + ";"


seqs = read_fasta(sys.argv[1])
rng = random.Random(int(sys.argv[2]))
length = len(next(iter(seqs.values())))
cols = [rng.randrange(length) for _ in range(length)]
print(tree({k: "".join(v[c] for c in cols) for k, v in seqs.items()}))
