#!/usr/bin/env python3
#SBATCH --job-name=recession
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=2
#SBATCH --mem=700M
#SBATCH --time=00:15:00
#SBATCH --output=recession_%j.out
"""Recession constants of all gauges, two at a time."""
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

home = Path(os.environ.get("SLURM_SUBMIT_DIR", "."))
sys.path.insert(0, str(home))

from recession import constant          # noqa: E402


def work(path):
    return path.stem, constant(path)


if __name__ == "__main__":
    files = sorted((home / "gauges").glob("*.txt"))
    n = int(os.environ.get("SLURM_CPUS_PER_TASK", "1"))
    with ProcessPoolExecutor(max_workers=n) as pool:
        table = dict(pool.map(work, files))
    with open(home / "recession.tsv", "w") as fh:
        for name, k in sorted(table.items()):
            print(name, f"{k:.4f}", sep="\t", file=fh)
    print(f"{len(table)} gauges done")
