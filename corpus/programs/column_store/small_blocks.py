import sys

import numpy as np

# column store that works block by block: a block of 16k values at a time
blocks, degree = int(sys.argv[1]), int(sys.argv[2])
size = 1 << 14
total = 0.0
x = np.linspace(0, 1, size)
for b in range(blocks):
    column = np.sin(x * (b + 1))
    y = np.zeros_like(column)
    for k in range(degree // 8):
        y = np.exp(-column * column) + 0.5 * np.tanh(y + k)
    total += float(y[column > 0.25].sum())
print(total)
