"""One step of the self-consistent cycle; prints the largest change."""
import math
import sys

with open(sys.argv[1]) as fh:
    old = [float(x) for x in fh]
total = sum(old)
new = [0.6 * x + 0.4 * math.exp(-0.3 * total - 0.1 * k) for k, x in enumerate(old)]
with open(sys.argv[2], "w") as fh:
    fh.writelines(f"{x:.12g}\n" for x in new)
print(f"{max(abs(a - b) for a, b in zip(old, new)):.3e}")
