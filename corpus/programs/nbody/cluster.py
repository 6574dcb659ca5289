"""Star cluster, all pairs, positions as one array."""
import sys

import numpy as np

n, steps = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(12)
x = rng.normal(size=(n, 3))
v = np.zeros_like(x)
m = np.full(n, 1.0 / n)


def acceleration(x):
    d = x[None, :, :] - x[:, None, :]
    r2 = np.einsum("ijk,ijk->ij", d, d) + 1e-4
    return np.einsum("ijk,ij,j->ik", d, r2**-1.5, m)


a = acceleration(x)
for _ in range(steps):
    v += 0.005 * a
    x += 0.01 * v
    a = acceleration(x)
    v += 0.005 * a
print("spread", x.std(axis=0))
