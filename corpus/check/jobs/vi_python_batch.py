#!/usr/bin/env python3
#SBATCH --job-name=pi
#SBATCH --time=00:05:00
#SBATCH --mem=200M
"""The batch script itself is a Python program."""
import os
import random
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

N = int(os.environ.get("SLURM_CPUS_PER_TASK", 1))


def inside(seed):
    rng = random.Random(seed)
    return sum(rng.random() ** 2 + rng.random() ** 2 < 1 for _ in range(10_000))


if __name__ == "__main__":
    with ProcessPoolExecutor(N) as pool:
        hits = sum(pool.map(inside, range(8)))
    Path(f"pi_{os.environ['SLURM_JOB_ID']}.txt").write_text(f"{4 * hits / 80_000}\n")
