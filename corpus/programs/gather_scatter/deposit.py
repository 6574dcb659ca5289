"""Particle-in-cell: deposit charges on a grid, a thousand particles at a time."""
import numpy as np
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--particles", type=int, default=1000)
parser.add_argument("--grid", type=int, default=64)
parser.add_argument("--steps", type=int, default=1000)
opts = parser.parse_args()

rng = np.random.default_rng(2)
pos = rng.uniform(0, opts.grid, size=(opts.particles, 2))
vel = rng.normal(size=pos.shape)
for step in range(opts.steps):
    rho = np.zeros((opts.grid, opts.grid))
    cell = pos.astype(int) % opts.grid
    frac = pos - np.floor(pos)
    np.add.at(rho, (cell[:, 0], cell[:, 1]), (1 - frac[:, 0]) * (1 - frac[:, 1]))
    np.add.at(rho, ((cell[:, 0] + 1) % opts.grid, cell[:, 1]), frac[:, 0] * (1 - frac[:, 1]))
    gx, gy = np.gradient(rho)
    vel[:, 0] -= 0.01 * gx[cell[:, 0], cell[:, 1]]
    vel[:, 1] -= 0.01 * gy[cell[:, 0], cell[:, 1]]
    pos = (pos + 0.05 * vel) % opts.grid
print("kinetic energy", (vel**2).sum() / 2)
