#!/usr/bin/env python3
"""chi^2 of a singular isothermal sphere over a grid of centres."""
import argparse
import csv
import json
import math


def chi2(arcs, theta, cx, cy):
    s = 0.0
    for a in arcs:
        r = math.hypot(a["x"] - cx, a["y"] - cy)
        s += ((r - theta) / a["err"]) ** 2
    return s


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--index", type=int, required=True)
    ap.add_argument("--data", required=True)
    args = ap.parse_args()
    theta = 0.5 + 0.1 * args.index
    with open(args.data) as fh:
        arcs = json.load(fh)
    rows = []
    for i in range(-20, 21):
        for j in range(-20, 21):
            rows.append((theta, i * 0.05, j * 0.05, chi2(arcs, theta, i * 0.05, j * 0.05)))
    rows.sort(key=lambda r: r[3])
    with open("fits/chi2.csv", "w", newline="") as fh:
        w = csv.writer(fh)
        w.writerow(["theta", "cx", "cy", "chi2"])
        w.writerows(rows[:50])


if __name__ == "__main__":
    main()
