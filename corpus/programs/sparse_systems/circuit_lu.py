"""Transient simulation of a resistor network: factor once, solve for each time step."""
import sys

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla

side = int(sys.argv[1])
steps = int(sys.argv[2])
n = side * side
rng = np.random.default_rng(4)
g = sp.lil_matrix((n, n))
for i in range(n):
    for j in (i + 1, i + side):
        if j < n and (j != i + 1 or j % side):
            c = rng.uniform(0.5, 2.0)
            g[i, i] += c
            g[j, j] += c
            g[i, j] -= c
            g[j, i] -= c
g += 0.1 * sp.identity(n)
solve = sla.factorized(g.tocsc())
v = np.zeros(n)
drive = np.zeros(n)
for k in range(steps):
    drive[0] = np.sin(k / 50)
    v = solve(drive + 0.1 * v)
print(v[n // 2])
