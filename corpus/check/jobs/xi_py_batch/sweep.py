#!/usr/bin/env python3
#SBATCH --job-name=pysweep
#SBATCH --array=1-2
#SBATCH --time=00:05:00
#SBATCH --mem=300M
import itertools
import json
import os
import sys

sys.path.insert(0, os.path.join(os.environ.get("SLURM_SUBMIT_DIR", "."), "lib"))
from physics import energy  # noqa: E402

grid = list(itertools.product([0.1, 0.2], [1, 2]))
i = int(os.environ["SLURM_ARRAY_TASK_ID"])
J, n = grid[i - 1]
os.makedirs("res", exist_ok=True)
with open(f"res/run_{i:04d}.json", "w") as fh:
    json.dump({"J": J, "n": n, "E": energy(J, n)}, fh)
