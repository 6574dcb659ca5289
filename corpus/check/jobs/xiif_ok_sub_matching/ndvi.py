#!/usr/bin/env python3
import csv
import json
import sys

src, dst = sys.argv[1:3]
gain = json.load(open("gain.json"))          # from aux/, without the folder's name
with open(src) as fi, open(dst, "w", newline="") as fo:
    w = csv.writer(fo)
    for r in csv.DictReader(fi):
        red, nir = float(r["red"]) * gain["red"], float(r["nir"]) * gain["nir"]
        w.writerow([r["pixel"], f"{(nir - red) / (nir + red):.3f}"])
print("wrote", dst)
