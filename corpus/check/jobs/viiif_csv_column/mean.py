import csv
import sys
from statistics import mean

with open(sys.argv[1], newline="") as f:
    rows = list(csv.DictReader(f))
print(mean(float(row["temp"]) for row in rows))
