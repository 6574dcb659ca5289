import csv
import math
import sys


def read(path):
    with open(path, newline="") as fh:
        return [(int(r["year"]), float(r["mm"])) for r in csv.DictReader(fh)]


def sign(x):
    return (x > 0) - (x < 0)


def mann_kendall(values):
    n = len(values)
    s = sum(sign(values[j] - values[i]) for i in range(n) for j in range(i + 1, n))
    var = n * (n - 1) * (2 * n + 5) / 18.0
    z = 0.0 if s == 0 else (s - sign(s)) / math.sqrt(var)
    return s, z


rows = sorted(read(sys.argv[1]))
s, z = mann_kendall([mm for _, mm in rows])
print(f"{sys.argv[1]}\tn={len(rows)}\tS={s}\tZ={z:.3f}")
