"""Lomb-Scargle period search of one light curve."""
import argparse

import numpy as np


def lomb_scargle(t, y, freqs):
    y = y - y.mean()
    power = np.empty_like(freqs)
    for k, f in enumerate(freqs):
        w = 2 * np.pi * f
        tau = np.arctan2(np.sin(2 * w * t).sum(), np.cos(2 * w * t).sum()) / (2 * w)
        c = np.cos(w * (t - tau))
        s = np.sin(w * (t - tau))
        power[k] = 0.5 * ((y @ c) ** 2 / (c @ c) + (y @ s) ** 2 / (s @ s))
    return power / y.var()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("lightcurve")
    ap.add_argument("--fmin", type=float, default=0.01)
    ap.add_argument("--fmax", type=float, default=10.0)
    ap.add_argument("--out", required=True)
    a = ap.parse_args()
    t, mag = np.loadtxt(a.lightcurve, unpack=True)
    freqs = np.linspace(a.fmin, a.fmax, 20000)
    power = lomb_scargle(t, mag, freqs)
    best = freqs[power.argmax()]
    with open(a.out, "w") as fh:
        fh.write(f"{a.lightcurve} period {1 / best:.5f} d power {power.max():.3f}\n")


if __name__ == "__main__":
    main()
