import argparse
import json
import os
import random
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import fmean

DATA = [random.Random(1).gauss(10, 2) for _ in range(200)]


def one(seed):
    rng = random.Random(seed)
    return fmean(rng.choices(DATA, k=len(DATA)))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--replicates", type=int, default=100)
    ap.add_argument("--workers", type=int, default=32, help="upper bound")
    ap.add_argument("--out", type=Path, required=True)
    a = ap.parse_args()
    workers = min(a.workers, len(os.sched_getaffinity(0)))
    with ProcessPoolExecutor(max_workers=workers) as pool:
        means = sorted(pool.map(one, range(a.replicates), chunksize=8))
    a.out.write_text(json.dumps({"lo": means[1], "hi": means[-2]}))


if __name__ == "__main__":
    main()
