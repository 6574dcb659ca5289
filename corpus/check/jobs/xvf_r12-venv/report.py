"""Mean and spread of each column."""
import csv
import sys

import numpy as np


def main(path):
    with open(path, newline="") as fh:
        rows = list(csv.DictReader(fh))
    for key in rows[0]:
        col = np.array([float(r[key]) for r in rows])
        print(f"{key:>8} {col.mean():8.3f} {col.std():8.3f}")


main(sys.argv[1])
