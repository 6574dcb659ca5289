#!/usr/bin/env python3
import csv
import math
import sys

bins = int(sys.argv[2])
prof = [[0.0, 0] for _ in range(bins)]
with open(sys.argv[1], newline="") as fh:
    for r in csv.DictReader(fh):
        x, y, e1, e2 = (float(r[k]) for k in ("x", "y", "e1", "e2"))
        phi = math.atan2(y, x)
        et = -(e1 * math.cos(2 * phi) + e2 * math.sin(2 * phi))
        b = min(int(math.hypot(x, y)), bins - 1)
        prof[b][0] += et
        prof[b][1] += 1
for i, (s, n) in enumerate(prof):
    print(i, n, s / n if n else "nan")
