#!/usr/bin/env python3
#SBATCH --job-name=lightcurves
#SBATCH --partition=short
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=2G
#SBATCH --time=00:30:00
"""Box periods of the light curves, submitted itself: sbatch lightcurves.py

Old call of the Python 2 version, kept for Tom:
    print "period %f" % p
"""
import glob
import os
import sys
from concurrent.futures import ProcessPoolExecutor

# sbatch copies this file away, so helper modules are looked for where it was submitted
HERE = os.environ.get("SLURM_SUBMIT_DIR", os.getcwd())
sys.path.insert(0, os.path.join(HERE, "lib"))
from phasefold import best_period  # noqa: E402


def one(path):
    t, m = [], []
    with open(path) as fh:
        for line in fh:
            a, b = line.split()
            t.append(float(a))
            m.append(float(b))
    return os.path.basename(path), best_period(t, m)


if __name__ == "__main__":
    files = sorted(glob.glob(os.path.join(HERE, "lc", "*.txt")))
    if not files:
        sys.exit("no light curves")
    nproc = int(os.environ.get("SLURM_CPUS_PER_TASK", 1))
    with ProcessPoolExecutor(nproc) as ex:
        for name, p in ex.map(one, files):
            print ("%s %.4f" % (name, p))
