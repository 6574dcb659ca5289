#!/usr/bin/env python3
"""Explicit heat equation on a square plate, one time step after the other."""
import sys

import numpy as np


def step(plate, new, alpha):
    new[1:-1, 1:-1] = plate[1:-1, 1:-1] + alpha * (
        plate[2:, 1:-1] + plate[:-2, 1:-1] + plate[1:-1, 2:] + plate[1:-1, :-2]
        - 4 * plate[1:-1, 1:-1]
    )
    return new, plate


def main():
    n = int(sys.argv[1])
    steps = int(sys.argv[2])
    plate = np.zeros((n, n))
    plate[0, :] = 100.0
    plate[:, 0] = 40.0
    new = plate.copy()
    for k in range(steps):
        plate, new = step(plate, new, 0.2)
    print(f"mean temperature after {steps} steps: {plate.mean():.4f}")


if __name__ == "__main__":
    main()
