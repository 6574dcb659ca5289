"""Percentile bootstrap of the mean, in parallel."""
import argparse
import json
import random
from multiprocessing import Pool
from pathlib import Path
from statistics import fmean

DATA = [random.Random(1).gauss(10, 2) for _ in range(400)]
WORKERS = 32


def one(seed):
    rng = random.Random(seed)
    return fmean(rng.choices(DATA, k=len(DATA)))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--replicates", type=int, default=100)
    ap.add_argument("--out", type=Path, required=True)
    a = ap.parse_args()
    with Pool(processes=WORKERS) as pool:
        means = sorted(pool.map(one, range(a.replicates)))
    lo, hi = means[int(0.025 * len(means))], means[int(0.975 * len(means))]
    a.out.write_text(json.dumps({"lo": lo, "hi": hi}))


if __name__ == "__main__":
    main()
