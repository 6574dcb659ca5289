"""a += b + s * c over long vectors, a chunk that fits the cache at a time, many updates each."""
import sys

import numpy as np

n, updates, chunk = int(sys.argv[1]), int(sys.argv[2]), 8192
a, b, c = np.zeros(n), np.full(n, 2.0), np.full(n, 0.5)
scratch = np.empty(chunk)
for first in range(0, n, chunk):
    part = slice(first, min(first + chunk, n))
    x, y, z = a[part], b[part], c[part]
    t = scratch[: len(x)]
    for k in range(updates):
        np.multiply(z, 1.0 / (k + 1), out=t)
        t += y
        x += t
print(a[0], a[-1])
