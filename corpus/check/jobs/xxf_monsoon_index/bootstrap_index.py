import argparse
import csv
import random
from multiprocessing import Pool
from statistics import mean


def load(path):
    rows = []
    with open(path, newline="") as fh:
        for rec in csv.DictReader(fh):
            rows.append((int(rec["year"]), float(rec["jjas_mm"])))
    return rows


def one(arg):
    seed, vals = arg
    rng = random.Random(seed)
    return mean(rng.choices(vals, k=len(vals)))


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--stations")
    ap.add_argument("--workers", type=int, default=1)
    ap.add_argument("--nboot", type=int, default=1000)
    ap.add_argument("--out")
    a = ap.parse_args()
    vals = [v for _, v in load(a.stations)]
    with Pool(a.workers) as pool:
        draws = sorted(pool.imap_unordered(one, ((i, vals) for i in range(a.nboot)), chunksize=200))
    lo, hi = draws[int(0.025 * a.nboot)], draws[int(0.975 * a.nboot)]
    with open(a.out, "w") as fh:
        fh.write("lo,hi\n%.1f,%.1f\n" % (lo, hi))
