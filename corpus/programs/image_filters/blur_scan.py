"""Blur a gigapixel-like scan with a separable kernel, whole rows and columns at once."""
import sys

import numpy as np

height, width, passes = map(int, sys.argv[1:4])
scan = np.zeros((height, width), dtype=np.float32)
scan[::7, ::5] = 255
for _ in range(passes):
    smooth = scan.copy()
    smooth[1:-1] += scan[:-2]
    smooth[1:-1] += scan[2:]
    smooth /= 3
    scan[:, 1:-1] = smooth[:, :-2]
    scan[:, 1:-1] += smooth[:, 1:-1]
    scan[:, 1:-1] += smooth[:, 2:]
    scan /= 3
print(scan.mean())
