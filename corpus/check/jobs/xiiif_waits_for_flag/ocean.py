"""Two-box ocean; touches a flag file when the series is complete."""
import argparse
import math
from pathlib import Path

ap = argparse.ArgumentParser()
ap.add_argument("--years", type=int, default=20)
ap.add_argument("--out", type=Path, required=True)
a = ap.parse_args()

surface, deep = 15.0, 4.0
with a.out.open("w") as fh:
    for month in range(12 * a.years):
        forcing = 2.0 * math.sin(2 * math.pi * month / 12)
        flux = 0.02 * (surface - deep)
        surface += 0.1 * (15 + forcing - surface) - flux + 0.22
        deep += 0.05 * flux
        fh.write(f"{month}\t{surface:.4f}\n")

Path("ocean.ready").touch()
