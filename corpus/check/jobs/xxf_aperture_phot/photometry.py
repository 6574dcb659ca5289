#!/usr/bin/env python3
"""x y flux triplets in, magnitudes out"""
import math
import sys

import psfmodel


def main(path, radius):
    model = psfmodel.Moffat(beta=3.1, fwhm=2.4)
    corr = model.encircled(radius)
    with open(path) as fh:
        for line in fh:
            if line.startswith("#"):
                continue
            x, y, flux = map(float, line.split())
            print("%8.2f %8.2f %7.3f" % (x, y, 25 - 2.5 * math.log10(flux / corr)))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
