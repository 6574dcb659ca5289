#!/usr/bin/env python3
"""Run by hand after the jobs: mean of all estimates."""
import glob
import statistics

values = []
for name in sorted(glob.glob("results/pi*.out")):
    with open(name) as fh:
        values += [float(line.split()[2]) for line in fh]
print(len(values), statistics.mean(values))
