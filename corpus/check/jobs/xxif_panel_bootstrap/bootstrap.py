"""Pairs bootstrap of the return to schooling."""
import argparse
import csv
import random


def slope(sample):
    n = len(sample)
    mx = sum(x for x, _ in sample) / n
    my = sum(y for _, y in sample) / n
    sxx = sum((x - mx) ** 2 for x, _ in sample)
    sxy = sum((x - mx) * (y - my) for x, y in sample)
    return sxy / sxx if sxx else float("nan")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--data", required=True)
    ap.add_argument("--seed", type=int, required=True)
    ap.add_argument("--reps", type=int, default=100)
    ap.add_argument("--out", required=True)
    a = ap.parse_args()
    rng = random.Random(a.seed)
    with open(a.data, newline="") as fh:
        rows = [(float(r["school"]), float(r["logwage"])) for r in csv.DictReader(fh)]
    with open(a.out, "w") as out:
        out.write("rep,slope\n")
        for rep in range(a.reps):
            out.write(f"{rep},{slope(rng.choices(rows, k=len(rows))):.6f}\n")


if __name__ == "__main__":
    main()
