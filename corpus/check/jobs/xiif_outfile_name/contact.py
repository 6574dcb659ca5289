#!/usr/bin/env python3
import csv
import math
import sys

coords = []
with open(sys.argv[1]) as fh:
    for line in fh:
        name, x, y, z = line.split()
        coords.append((name, float(x), float(y), float(z)))

cut = float(sys.argv[2])
n = 0
with open("contact_map.csv", "w", newline="") as out:
    w = csv.writer(out)
    w.writerow(["i", "j", "distance"])
    for i, a in enumerate(coords):
        for b in coords[i + 2:]:
            d = math.dist(a[1:], b[1:])
            if d < cut:
                w.writerow([a[0], b[0], f"{d:.2f}"])
                n += 1
print(n, "contacts")
