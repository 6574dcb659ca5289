import sys

import numpy as np
from scipy.interpolate import CubicSpline

stations = int(sys.argv[1])
rng = np.random.default_rng(21)
hours = np.arange(0, 24 * 30, 3)
fine = np.arange(0, 24 * 30 - 3, 0.25)
peaks = []
for s in range(stations):
    temperature = 10 + 8 * np.sin(hours / 24 * 2 * np.pi) + rng.normal(size=len(hours))
    curve = CubicSpline(hours, temperature)
    peaks.append(curve(fine).max())
print(np.mean(peaks))
