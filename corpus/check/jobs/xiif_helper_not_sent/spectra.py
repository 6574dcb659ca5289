#!/usr/bin/env python3
import json
import sys

import baseline

cfg = json.load(open("settings.json"))
pts = [tuple(map(float, l.split())) for l in open(sys.argv[1])]
flat = baseline.subtract(pts, cfg["window"])
for x, y in flat:
    if y > cfg["threshold"]:
        print(f"peak {x:.1f} {y:.2f}")
