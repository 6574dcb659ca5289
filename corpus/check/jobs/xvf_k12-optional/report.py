import csv
import sys

try:
    import numpy as np
except ImportError:
    np = None
try:
    from ConfigParser import ConfigParser
except ModuleNotFoundError:
    from configparser import ConfigParser


def mean(col):
    return float(np.mean(col)) if np is not None else sum(col) / len(col)


cp = ConfigParser()
cp.read_string("[fmt]\ndigits = 2\n")
with open(sys.argv[1], newline="") as fh:
    rows = list(csv.DictReader(fh))
for key in rows[0]:
    print(key, round(mean([float(r[key]) for r in rows]), cp.getint("fmt", "digits")))
