#!/usr/bin/env python3
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
sys.path.insert(0, "lib")
from boxmodel import fit

path, period, label, depth = sys.argv[1], float(sys.argv[2]), sys.argv[3], float(sys.argv[4])
with open(path) as fh:
    lc = [tuple(map(float, l.split())) for l in fh if l.strip()]
t0, d = fit(lc, period, depth)
print(path, "t0 %.3f depth %.4f (%s %g)" % (t0, d, label, depth))
