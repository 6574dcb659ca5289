import sys

import numpy as np

n, rounds = map(int, sys.argv[1:])
rng = np.random.default_rng(11)
facts = rng.integers(0, n, n)
dimension = np.arange(n, dtype=np.float64)
joined = np.empty(n)
for r in range(rounds):
    np.take(dimension, facts, out=joined, mode="wrap")
    np.subtract(joined, r, out=dimension)
print(joined[:3], dimension[-3:])
