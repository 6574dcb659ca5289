import csv
import sys
from collections import defaultdict

try:
    import numpy as np
    mean = lambda v: float(np.mean(v))
except ImportError:          # the plain python of the cluster
    from statistics import mean

path, threshold = sys.argv[1], float(sys.argv[2])
cores = defaultdict(list)
with open(path, newline="") as fh:
    for row in csv.DictReader(fh):
        cores[row["core"]].append(float(row["d18o"]))

for name, values in sorted(cores.items()):
    spread = max(values) - min(values)
    flag = "*" if spread > threshold else ""
    print(f"{name}\t{mean(values):.2f}\t{spread:.2f}\t{flag}")
