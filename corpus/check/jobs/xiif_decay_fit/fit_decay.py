"""Least-squares fit of a single exponential to muon decay counts."""
import argparse
import csv
import json
import math

from report import summary


def fit(rows):
    xs = [t for t, n in rows]
    ys = [math.log(n) for t, n in rows]
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    slope = (sum((x - mx) * (y - my) for x, y in zip(xs, ys))
             / sum((x - mx) ** 2 for x in xs))
    return -1 / slope, math.exp(my - slope * mx)


ap = argparse.ArgumentParser()
ap.add_argument("table")
ap.add_argument("--out", default="fit.json")
args = ap.parse_args()

with open(args.table) as fh:
    rows = [(float(r["t_us"]), float(r["counts"])) for r in csv.DictReader(fh)]
tau, n0 = fit(rows)
summary(tau, n0)
with open(args.out, "w") as fh:
    json.dump({"tau": tau, "n0": n0}, fh)
