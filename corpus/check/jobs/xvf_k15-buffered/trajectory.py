"""Verlet trajectory of a pendulum."""
import argparse
import math

STEPS = 1_000_000
DT = 1e-4

ap = argparse.ArgumentParser()
ap.add_argument("--trace", required=True)
a = ap.parse_args()
q, p = 0.3, 0.0
with open(a.trace, "w", buffering=1 << 20) as fh:
    fh.write("step,q,p\n")
    for step in range(STEPS):
        p -= 0.5 * DT * math.sin(q)
        q += DT * p
        p -= 0.5 * DT * math.sin(q)
        if step % 1000 == 0:
            fh.write(f"{step},{q:.9f},{p:.9f}\n")
