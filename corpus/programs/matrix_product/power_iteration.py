"""Largest eigenvalue of a dense symmetric matrix, by repeated products with a vector."""
import argparse

import numpy as np

p = argparse.ArgumentParser(description=__doc__)
p.add_argument("-n", type=int, default=4000)
p.add_argument("--rounds", type=int, default=50)
a = p.parse_args()

rows = np.arange(a.n, dtype=np.float64)
matrix = np.empty((a.n, a.n))
for i in range(a.n):
    matrix[i] = 1.0 / (1.0 + np.abs(rows - i))
vector = np.ones(a.n)
value = 0.0
for _ in range(a.rounds):
    image = matrix @ vector
    value = np.linalg.norm(image)
    vector = image / value
print("largest eigenvalue", value)
