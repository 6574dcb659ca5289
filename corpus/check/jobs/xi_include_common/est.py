#!/usr/bin/env python3
import sys
from stats.basic import mean
rows = [l.split(",") for l in open(sys.argv[1] + ".csv").read().split()[1:]]
print(sys.argv[1], mean(float(r[1]) for r in rows))
