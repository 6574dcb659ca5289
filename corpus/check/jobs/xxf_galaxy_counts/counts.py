#!/usr/bin/env python3
#SBATCH --job-name=gcounts
#SBATCH --partition=short
#SBATCH --time=00:20:00
#SBATCH --cpus-per-task=4
#SBATCH --mem=2G
"""Number counts per half magnitude with jackknife errors (python is the batch script)."""
import csv
import math
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

HERE = Path(os.environ.get("SLURM_SUBMIT_DIR", "."))
NPROC = int(os.environ.get("SLURM_CPUS_PER_TASK", "1"))


def hist(args):
    mags, skip = args
    h = {}
    for i, m in enumerate(mags):
        if skip is not None and i % 8 == skip:
            continue
        b = math.floor(m * 2) / 2
        h[b] = h.get(b, 0) + 1
    return h


def main():
    with open(HERE / "catalogue.csv", newline="") as fh:
        mags = [float(r["mag"]) for r in csv.DictReader(fh)]
    with ProcessPoolExecutor(NPROC) as ex:
        full, *jack = ex.map(hist, [(mags, None)] + [(mags, k) for k in range(8)])
    out = HERE / "counts"
    out.mkdir(exist_ok=True)
    with open(out / "n_of_m.txt", "w") as fh:
        for b in sorted(full):
            v = [j.get(b, 0) * 8 / 7 for j in jack]
            mu = sum(v) / 8
            err = math.sqrt(7 / 8 * sum((x - mu) ** 2 for x in v))
            print("%.1f %d %.2f" % (b, full[b], err), file=fh)


if __name__ == "__main__":
    main()
