#!/usr/bin/env python3
"""Throws toys of a counting experiment and prints the limits."""
import argparse
import json
import random

from statlib import poisson, upper_limit


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--seed", type=int, required=True)
    ap.add_argument("--ntoys", type=int, default=100)
    a = ap.parse_args()
    rng = random.Random(a.seed)
    with open("background.json") as fh:
        bkg = json.load(fh)
    mean = sum(ch["yield"] for ch in bkg["channels"])
    for toy in range(a.ntoys):
        n = poisson(rng, mean)
        print(toy, n, f"{upper_limit(n, mean):.3f}")


if __name__ == "__main__":
    main()
