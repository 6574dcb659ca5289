"""A toy column store: filters and sums over columns, one vector operation at a time."""
import sys

import numpy as np

rows, queries = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(0)
price = np.arange(rows, dtype=np.float64)
price %= 1009
units = np.arange(rows, dtype=np.int64)
units &= 63
out = np.empty(rows)
for q in range(queries):
    np.multiply(price, units, out=out)
    out -= 40.0 * q
    out += price
    big = out > 5000
    print(q, int(big.sum()), out.max())
