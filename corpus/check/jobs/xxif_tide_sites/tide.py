#!/usr/bin/env python3
import csv
import math
import sys


def main():
    if len(sys.argv) != 5:
        sys.exit("usage: tide.py GAUGE LAT LON YEAR")
    gauge, lat, lon, year = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
    with open("constituents.csv", newline="") as fh:
        cons = [(r["name"], float(r["speed"]), float(r["amplitude"])) for r in csv.DictReader(fh)]
    hours = 8784 if year % 4 == 0 else 8760
    scale = math.cos(math.radians(lat))
    for t in range(0, hours, 6):
        h = sum(a * scale * math.cos(math.radians(s * t + lon)) for _, s, a in cons)
        print(gauge, t, f"{h:.3f}")


if __name__ == "__main__":
    main()
