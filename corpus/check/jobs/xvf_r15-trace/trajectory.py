"""Verlet trajectory of a pendulum."""
import math
from pathlib import Path

STEPS = 5_000_000
DT = 1e-4
TRACE = Path("trace.csv")


def main():
    q, p = 0.3, 0.0
    TRACE.write_text("step,q,p\n")
    for step in range(STEPS):
        p -= 0.5 * DT * math.sin(q)
        q += DT * p
        p -= 0.5 * DT * math.sin(q)
        with TRACE.open("a") as fh:
            fh.write(f"{step},{q:.9f},{p:.9f}\n")


main()
