#!/usr/bin/env python3
"""Toy evolutionary track of one star.

usage: track.py NAME MASS      (exactly two arguments)
"""
import sys


def luminosity(m):
    if m < 0.43:
        return 0.23 * m**2.3
    if m < 2:
        return m**4
    return 1.4 * m**3.5


def main(argv):
    if len(argv) != 3:
        sys.stderr.write(__doc__)
        return 2
    name, mass = argv[1], float(argv[2])
    lum = luminosity(mass)
    life = 10.0 * mass / lum
    print(f"# {name}: {mass} Msun, {life:.2f} Gyr on the main sequence")
    steps = 20
    for k in range(steps + 1):
        t = life * k / steps
        grow = 1 + 0.6 * (k / steps) ** 1.5
        print(f"{t:.3f} {lum * grow:.4f}")
    return 0


sys.exit(main(sys.argv))
