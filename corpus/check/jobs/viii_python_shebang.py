#!/usr/bin/env python3
#SBATCH --job-name=mc
#SBATCH --time=00:20:00
#SBATCH --mem=500M
#SBATCH --array=0-3
"""Monte Carlo in one file; sbatch takes it as it is."""
import os
import random
from concurrent.futures import ThreadPoolExecutor
from functools import partial

seed = int(os.environ.get("SLURM_ARRAY_TASK_ID", 0))


def inside(n, rng):
    return sum(rng.random() ** 2 + rng.random() ** 2 < 1 for _ in range(n))


with ThreadPoolExecutor(max_workers=int(os.getenv("SLURM_CPUS_PER_TASK", "1"))) as pool:
    hits = sum(pool.map(partial(inside, 1000), [random.Random(seed * 10 + i) for i in range(4)]))
print(f"{4 * hits / 4000:.2f}")
