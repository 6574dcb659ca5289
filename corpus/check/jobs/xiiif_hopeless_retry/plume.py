#!/usr/bin/env python3
"""Ground-level concentration on the plume axis (neutral stability)."""
import csv
import getopt
import math
import sys


def usage(msg):
    sys.stderr.write(f"plume.py: {msg}\nusage: plume.py --height M --rate G/S --wind M/S\n")
    sys.exit(2)


try:
    opts, rest = getopt.getopt(sys.argv[1:], "", ["height=", "rate=", "wind="])
except getopt.GetoptError as err:
    usage(str(err))
val = dict(opts)
for need in ("--height", "--rate", "--wind"):
    if need not in val:
        usage(f"{need} is required")
H, Q, u = (float(val[k]) for k in ("--height", "--rate", "--wind"))

with open(f"plume_{val['--height']}.csv", "w", newline="") as fh:
    w = csv.writer(fh)
    w.writerow(["x_m", "c_ug_m3"])
    for x in range(100, 10001, 100):
        sy = 0.08 * x / math.sqrt(1 + 0.0001 * x)
        sz = 0.06 * x / math.sqrt(1 + 0.0015 * x)
        c = Q / (math.pi * u * sy * sz) * math.exp(-H * H / (2 * sz * sz))
        w.writerow([x, f"{c * 1e6:.3f}"])
