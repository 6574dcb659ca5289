#!/usr/bin/env python3
import argparse
import json
import math
import os

p = argparse.ArgumentParser()
p.add_argument("--layout", required=True)
p.add_argument("--hours", type=int, default=1)
a = p.parse_args()

layout = json.load(open(a.layout))
os.makedirs("results", exist_ok=True)
with open("results/turbines.csv", "w") as fh:
    fh.write("id,mwh\n")
    for t in layout["turbines"]:
        e = sum(t["mw"] * (0.5 + 0.4 * math.sin(h / 4 + t["x"])) for h in range(a.hours))
        fh.write("%s,%.2f\n" % (t["id"], e))
