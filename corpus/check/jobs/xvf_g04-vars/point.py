#!/usr/bin/env python3
import math
import sys

t = float(sys.argv[1])
print(f"{t} {math.exp(-1000 / t):.6f}")
