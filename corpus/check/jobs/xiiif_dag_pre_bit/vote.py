#!/usr/bin/env python3
import csv
import json
import sys
from collections import Counter

path, k, of = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rows = list(csv.DictReader(open(path, newline="")))
train = [r for i, r in enumerate(rows) if i % of != k]
test = [r for i, r in enumerate(rows) if i % of == k]
by = {}
for r in train:
    by.setdefault(r["region"], Counter())[r["party"]] += 1
overall = Counter(r["party"] for r in train).most_common(1)[0][0]
ok = sum((by[r["region"]].most_common(1)[0][0] if r["region"] in by else overall) == r["party"]
         for r in test)
json.dump({"fold": k, "n": len(test), "right": ok}, open(f"fold_{k}.json", "w"))
