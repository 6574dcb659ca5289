#!/usr/bin/env python3
import json
import math
import sys


def propagate(path):
    with open(path) as fh:
        el = json.load(fh)
    for d in range(0, el["days"]):
        m = 2 * math.pi * d / el["period"]
        e = m
        for _ in range(30):
            e -= (e - el["ecc"] * math.sin(e) - m) / (1 - el["ecc"] * math.cos(e))
        x = el["a"] * (math.cos(e) - el["ecc"])
        y = el["a"] * math.sqrt(1 - el["ecc"] ** 2) * math.sin(e)
        print(d, "%.6f %.6f" % (x, y))


def approach(path):
    with open(path) as fh:
        for line in fh:
            d, x, y = map(float, line.split())
            ang = 2 * math.pi * d / 365.25
            r = math.hypot(x - math.cos(ang), y - math.sin(ang))
            if r < 0.3:
                print("%d %.4f" % (d, r))


{"propagate": propagate, "approach": approach}[sys.argv[1]](sys.argv[2])
