import argparse
import os
from pathlib import Path

ap = argparse.ArgumentParser()
ap.add_argument("--rho-file", required=True)
ap.add_argument("--out", type=Path, required=True)
a = ap.parse_args()

task = int(os.environ.get("SLURM_ARRAY_TASK_ID", 0))
rho = float(open(a.rho_file).read().split()[task])
target = a.out.with_name(f"{a.out.stem}_{task:03d}{a.out.suffix}")

x, y, z, dt = 1.0, 1.0, 1.0, 0.005
with target.open("w") as fh:
    for i in range(2000):
        dx, dy, dz = 10 * (y - x), x * (rho - z) - y, x * y - 8 / 3 * z
        x, y, z = x + dt * dx, y + dt * dy, z + dt * dz
        fh.write(f"{i * dt:.3f},{x:.4f},{y:.4f},{z:.4f}\n")
