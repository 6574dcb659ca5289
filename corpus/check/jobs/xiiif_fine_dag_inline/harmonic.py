#!/usr/bin/env python3
import cmath
import math
import sys

SPEED = {"M2": 28.984104, "S2": 30.0}
h, gap = [], False
for line in open(sys.argv[1]):
    for f in line.split():
        if f == "-":
            gap = True
            h.append(None)
        else:
            h.append(float(f))
mean = sum(v for v in h if v is not None) / sum(v is not None for v in h)
for name, deg in SPEED.items():
    z = sum((v - mean) * cmath.exp(-1j * math.radians(deg) * t) for t, v in enumerate(h) if v is not None)
    z *= 2 / len(h)
    print(name, f"{abs(z):.3f}", f"{math.degrees(cmath.phase(z)):.1f}")
sys.exit(4 if gap else 0)
