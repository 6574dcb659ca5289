"""Implicit (Crank-Nicolson) time steps of a rod; a tridiagonal system per step."""
import argparse

import numpy as np
from scipy.linalg import solve_banded

parser = argparse.ArgumentParser()
parser.add_argument("--cells", type=int, default=2000)
parser.add_argument("--steps", type=int, default=1000)
options = parser.parse_args()

n = options.cells
r = 0.5
bands = np.zeros((3, n))
bands[0, 1:] = -r / 2
bands[1, :] = 1 + r
bands[2, :-1] = -r / 2
x = np.linspace(0, 1, n)
u = np.exp(-200 * (x - 0.5) ** 2)

for step in range(options.steps):
    rhs = (1 - r) * u
    rhs[1:] += r / 2 * u[:-1]
    rhs[:-1] += r / 2 * u[1:]
    u = solve_banded((1, 1), bands, rhs)
    if step % 1000 == 0:
        print(f"step {step}: peak {u.max():.5f}", flush=True)
print("done", u.sum())
