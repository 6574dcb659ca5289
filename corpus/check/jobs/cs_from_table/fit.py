#!/usr/bin/python3
import sys

sample = sys.argv[sys.argv.index("--sample") + 1]
print(sample, sum(float(line) for line in open(f"{sample}.csv")))
