"""Length of a glacier, a century a segment."""
import sys

src, dst = sys.argv[1:]
with open(src) as fh:
    year, length = fh.read().split()
year, length = int(year), float(length)
for _ in range(100):
    warming = max(0.0, (year - 1900) * 0.008)
    length += (1150.0 - 220.0 * warming - length) / 35.0
    year += 1
with open(dst, "w") as fh:
    print(year, f"{length:.3f}", file=fh)
