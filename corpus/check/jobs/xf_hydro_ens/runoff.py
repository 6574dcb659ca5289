#!/usr/bin/env python3
import sys

if len(sys.argv) != 3:
    sys.exit("usage: runoff.py MEMBER RAINFACTOR")
member, f = sys.argv[1], float(sys.argv[2])
store = 10.0
with open("member_%s.txt" % member, "w") as fh:
    for day in range(5):
        store += f * (day % 3)
        q = 0.1 * store
        store -= q
        fh.write("%d %.3f\n" % (day, q))
