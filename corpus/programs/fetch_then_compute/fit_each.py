"""Fetch a table per station and fit a line to it. Most of the time goes into numpy, surely."""
import csv
import io
import sys
import urllib.request

import numpy as np

base, stations, lines = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for s in range(stations):
    with urllib.request.urlopen(f"{base}/table/{lines + s}") as answer:
        rows = list(csv.DictReader(io.TextIOWrapper(answer)))
    x = np.array([float(r["id"]) for r in rows])
    y = np.array([float(r["value"]) for r in rows])
    slope, offset = np.polyfit(x, y, 1)
    print(s, round(slope, 5), round(offset, 2))
