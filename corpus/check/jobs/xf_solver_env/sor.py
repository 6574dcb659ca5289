#!/usr/bin/env python3
import os

niter = int(os.environ["NITER"])
omega = float(os.environ.get("OMEGA", "1.0"))
n = 12
u = [0.0] * (n + 1)
u[n] = 1.0
for _ in range(niter):
    for i in range(1, n):
        u[i] += omega * (0.5 * (u[i - 1] + u[i + 1]) - u[i])
with open("sol.txt", "w") as fh:
    fh.write("\n".join("%.5f" % v for v in u) + "\n")
