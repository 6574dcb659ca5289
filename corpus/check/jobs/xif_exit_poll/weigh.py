#!/usr/bin/env python3
import csv
import sys
from collections import Counter

rows = list(csv.DictReader(open(sys.argv[1], newline="")))
n = Counter(r["age"] for r in rows)
with open(sys.argv[2], "w", newline="") as fh:
    w = csv.writer(fh)
    w.writerow(["id", "weight"])
    for r in rows:
        w.writerow([r["id"], round(len(rows) / (len(n) * n[r["age"]]), 3)])
