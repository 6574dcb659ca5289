"""k-means on made-up clusters of points."""
import sys

import numpy as np

n, k, rounds = int(sys.argv[1]), 16, int(sys.argv[2])
rng = np.random.default_rng(8)
points = rng.normal(size=(n, 8)) + rng.integers(0, 6, size=(n, 1))
centers = points[rng.choice(n, k, replace=False)]
for r in range(rounds):
    distance = ((points[:, None, :] - centers[None]) ** 2).sum(axis=2)
    label = distance.argmin(axis=1)
    for c in range(k):
        mine = points[label == c]
        if len(mine):
            centers[c] = mine.mean(axis=0)
print(np.bincount(label, minlength=k))
