#!/usr/bin/env python3
import sys

bed = [float(l) for l in open(sys.argv[1]) if l.strip()]
n = float(sys.argv[2])
A, rho, g, H = 2.4e-24, 910.0, 9.81, 150.0
with open("velocity.txt", "w") as fh:
    for i in range(len(bed) - 1):
        slope = (bed[i] - bed[i + 1]) / 100.0
        tau = rho * g * H * slope
        fh.write("%d %.3f\n" % (i, 2 * A / (n + 1) * tau ** n * H * 3.15e7))
