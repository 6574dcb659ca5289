#!/usr/bin/env python3
#SBATCH --job-name=pyjob
#SBATCH --time=00:10:00
#SBATCH --mem=1G
#SBATCH --cpus-per-task=2
"""A batch script in Python: Slurm reads the directives, the interpreter sees comments."""
import os
from multiprocessing import Pool


def area(n):
    return sum(1 for x in range(n) for y in range(n) if x * x + y * y < n * n) / n**2


if __name__ == "__main__":
    with Pool(int(os.environ.get("SLURM_CPUS_PER_TASK", 1))) as pool:
        print([round(4 * a, 3) for a in pool.map(area, [50, 100])])
