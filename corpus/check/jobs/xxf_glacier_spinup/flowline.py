import os
import sys

path, years = sys.argv[1], int(sys.argv[2])
N, DX = 60, 500.0
bed = [3000.0 - 0.08 * i * DX for i in range(N)]
h = [0.0] * N
if os.path.exists(path):
    with open(path) as fh:
        h = [float(x) for x in fh.read().split()]

dt, tau, kappa = 0.1, 70.0, 8.0e3     # years, years, m2/yr
last = list(h)
for _ in range(int(years / dt)):
    mb = [0.004 * (b + x - 2200.0) for b, x in zip(bed, h)]
    new = []
    for i in range(N):
        left, right = h[max(i - 1, 0)], h[min(i + 1, N - 1)]
        lap = (left - 2 * h[i] + right) / DX ** 2
        new.append(max(0.0, h[i] + dt * (mb[i] - h[i] / tau + kappa * lap)))
    h = new

with open(path, "w") as fh:
    fh.write(" ".join("%.5f" % x for x in h))
with open("drift.txt", "a") as fh:
    fh.write("%d %.6f\n" % (years, max(abs(a - b) for a, b in zip(h, last)) / years))
