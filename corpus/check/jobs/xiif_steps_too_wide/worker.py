import os
import sys
import math

rank = int(os.environ["SLURM_PROCID"])
size = int(os.environ["SLURM_NTASKS"])
table, outdir = sys.argv[1:3]

with open(table) as fh:
    couplings = [float(x) for x in fh]

with open(os.path.join(outdir, f"rank_{rank:02d}.txt"), "w") as out:
    for i, j in enumerate(couplings):
        if i % size != rank:
            continue
        for k in range(64):
            e = -2 * j * math.cos(2 * math.pi * k / 64)
            out.write(f"{e:.6f} {j}\n")
