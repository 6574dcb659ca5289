"""Deterministic SIR epidemic for one contact rate."""
import argparse
import csv
import json


def simulate(cfg, beta):
    n = cfg["population"]
    s, i, r = n - cfg["infected"], float(cfg["infected"]), 0.0
    for day in range(cfg["days"]):
        yield day, s, i, r
        new = beta * s * i / n
        rec = cfg["gamma"] * i
        s, i, r = s - new, i + new - rec, r + rec


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--config", required=True)
    ap.add_argument("--beta", type=float, required=True)
    ap.add_argument("--out", required=True)
    a = ap.parse_args()
    with open(a.config) as fh:
        cfg = json.load(fh)
    with open(a.out, "w", newline="") as fh:
        wr = csv.writer(fh)
        wr.writerow(["beta", "day", "s", "i", "r"])
        for row in simulate(cfg, a.beta):
            wr.writerow([a.beta, *row])


if __name__ == "__main__":
    main()
