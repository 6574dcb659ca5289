#!/usr/bin/env python3
import sys

with open(sys.argv[1]) as fh:
    level = [float(x) for x in fh]
start = None
for i, v in enumerate(level + [0.0]):
    if v > 1.0 and start is None:
        start = i
    elif v <= 1.0 and start is not None:
        print(sys.argv[1], start, i - 1, sep="\t")
        start = None
