#!/usr/bin/env python3
import csv, json, sys
src, dst = sys.argv[1:]
with open(src, newline="") as f, open(dst, "w") as g:
    json.dump(list(csv.DictReader(f)), g, indent=1)
