"""Nearest-neighbour regridding of a global field to scattered observation points."""
import argparse

import numpy as np

p = argparse.ArgumentParser()
p.add_argument("--side", type=int, default=4000)
p.add_argument("--points", type=int, default=5_000_000)
p.add_argument("--times", type=int, default=5)
a = p.parse_args()

field = np.arange(a.side * a.side, dtype=np.float64).reshape(a.side, a.side)
rng = np.random.default_rng(2)
lat = rng.integers(0, a.side, a.points)
lon = rng.integers(0, a.side, a.points)
means = [field[lat, lon].mean() + t for t in range(a.times)]
print(means)
