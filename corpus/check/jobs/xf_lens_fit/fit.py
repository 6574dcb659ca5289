#!/usr/bin/env python3
import math
import sys

name = sys.argv[1]
theta = float(sys.argv[2])
zs = float(sys.argv[3])
C = 299792.458
sigma = C * math.sqrt(theta / (4 * math.pi * 206265) * (1 + zs))
print("%s %.1f km/s" % (name, sigma))
