import argparse
import csv
from multiprocessing import Pool

from .model import World


def one(job):
    size, tol, seed = job
    w = World(size, tol, seed)
    for _ in range(40):
        if not w.sweep():
            break
    return seed, tol, w.index()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--grid", type=int, default=30)
    ap.add_argument("--runs", type=int, default=10)
    ap.add_argument("--target", required=True)
    a = ap.parse_args()
    jobs = [(a.grid, 0.2 + 0.05 * (s % 8), s) for s in range(a.runs)]
    with Pool(64) as pool, open(a.target, "w", newline="") as fh:
        w = csv.writer(fh)
        for row in pool.imap_unordered(one, jobs):
            w.writerow(row)
