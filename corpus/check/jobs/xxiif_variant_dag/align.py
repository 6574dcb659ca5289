#!/usr/bin/env python3
import sys
ref = open("ref.txt").read().strip()
for line in open(sys.argv[1]):
    r = line.strip()
    best = min(range(len(ref) - len(r) + 1),
               key=lambda i: sum(a != b for a, b in zip(r, ref[i:])))
    for k, (a, b) in enumerate(zip(r, ref[best:])):
        if a != b:
            print(best + k, b, a)
