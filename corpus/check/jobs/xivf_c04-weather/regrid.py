#!/usr/bin/env python3
import csv
import json
import sys

with open("grid.json") as fh:
    step = json.load(fh)["step"]

acc = {}
with open(sys.argv[1]) as fh:
    for row in csv.DictReader(fh):
        k = int(float(row["lat"]) // step)
        acc.setdefault(k, []).append(float(row["t"]))

with open("regridded.csv", "w") as fh:
    for k in sorted(acc):
        fh.write("%s,%.2f\n" % (k * step, sum(acc[k]) / len(acc[k])))
