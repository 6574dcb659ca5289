"""Trapezoid transit fit on a detrended light curve."""
import csv
import json
import sys

import emcee
from astropy.timeseries import fold
from lmfit.models import trapezoid_guess


def read_lc(path):
    t, f = [], []
    with open(path, newline="") as fh:
        for row in csv.DictReader(fh):
            t.append(float(row["time"]))
            f.append(float(row["flux"]))
    return t, f


def main(inp, out):
    t, f = read_lc(inp)
    phase = fold(t, period=3.2888)
    depth0 = 1.0 - min(f)
    start = trapezoid_guess(phase, f, depth0)
    sampler = emcee.EnsembleSampler(32, 4, seed=11)
    best = sampler.best_fit(start)
    with open(out, "w") as fh:
        json.dump({"input": inp, "depth": depth0, "best": best}, fh)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
