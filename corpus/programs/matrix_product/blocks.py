"""Many small covariance matrices, one per region of interest."""
import sys

import numpy as np

regions, size = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(0)
data = rng.normal(size=(64, size, size))
traces = []
for k in range(regions):
    block = data[k % 64]
    product = block @ block.T
    traces.append(np.trace(product @ product))
print(f"{regions} regions, mean trace {np.mean(traces):.6g}")
