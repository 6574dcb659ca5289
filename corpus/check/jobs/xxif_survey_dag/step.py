#!/usr/bin/env python3
import csv
import statistics
import sys

what, src, dst = sys.argv[1:4]
with open(src, newline="") as fh:
    data = list(csv.DictReader(fh))

if what == "clean":
    data = [r for r in data if r["size"]]
elif what == "impute":
    mean = statistics.mean(float(r["income"]) for r in data if r["income"])
    for r in data:
        r["income"] = r["income"] or mean
elif what == "weight":
    for r in data:
        r["weight"] = 1 / float(r["size"])
elif what == "tabulate":
    total = sum(float(r["weight"]) for r in data)
    data = [{"mean_income": sum(float(r["income"]) * float(r["weight"]) for r in data) / total}]
else:
    sys.exit("unknown step " + what)

with open(dst, "w", newline="") as fh:
    wr = csv.DictWriter(fh, fieldnames=list(data[0]))
    wr.writeheader()
    wr.writerows(data)
