"""Turn a big scan by a quarter, several times (the scanner's feeder was misaligned)."""
import sys

import numpy as np

side, times = map(int, sys.argv[1:])
scan = np.zeros((side, side), dtype=np.float32)
scan[:: side // 50] = 1.0
for _ in range(times):
    scan = np.ascontiguousarray(scan.T[::-1])
np.save("turned.npy", scan[::40, ::40])
print(scan.sum())
