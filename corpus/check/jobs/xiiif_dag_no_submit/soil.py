#!/usr/bin/env python3
import csv
import json
import math
import sys


def cores(path):
    with open(path, newline="") as fh:
        return [tuple(float(r[k]) for k in ("x", "y", "c")) for r in csv.DictReader(fh)]


def vario(path):
    d = cores(path)
    g = [(math.dist(a[:2], b[:2]), (a[2] - b[2]) ** 2 / 2)
         for i, a in enumerate(d) for b in d[:i]]
    slope = sum(h * v for h, v in g) / sum(h * h for h, _ in g)
    json.dump({"slope": slope}, open("vario.json", "w"))


def krige(path, model):
    d = cores(path)
    power = 1 + json.load(open(model))["slope"]
    with open("grid.csv", "w") as fh:
        for y in range(5):
            for x in range(5):
                w = [1 / (0.1 + math.dist((x, y), p[:2])) ** power for p in d]
                fh.write(f"{x},{y},{sum(a * p[2] for a, p in zip(w, d)) / sum(w):.3f}\n")


def map(path):
    rows = {}
    for line in open(path):
        x, y, v = line.split(",")
        rows.setdefault(int(y), []).append(".:*#"[min(3, int(float(v)))])
    for y in sorted(rows):
        print("".join(rows[y]))


globals()[sys.argv[1]](*sys.argv[2:])
