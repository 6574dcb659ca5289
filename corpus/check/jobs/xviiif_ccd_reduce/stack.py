#!/usr/bin/env python3
"""Median stack of ascii frames (exported with the old IRAF task)."""
import glob
import os
import statistics
import sys

src, dst = sys.argv[1], sys.argv[2]
frames = sorted(glob.glob(os.path.join(src, "*.dat")))
if len(frames) < 3:
    sys.exit("need at least three frames in %s" % src)

pix = []
for f in frames:
    with open(f) as fh:
        vals = [float(v) for line in fh for v in line.split()]
    if pix and len(vals) != len(pix[0]):
        sys.exit("%s: %d pixels, expected %d" % (f, len(vals), len(pix[0])))
    pix.append(vals)
    print("read", f, len(vals))

with open(dst, "w") as out:
    for col in zip(*pix):
        out.write("%.3f\n" % statistics.median(col))
print("wrote", dst)
