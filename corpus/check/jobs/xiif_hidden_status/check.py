import csv
import sys

bad = 0
with open(sys.argv[1]) as fh:
    for n, row in enumerate(csv.DictReader(fh), start=2):
        for key in ("hb", "crp"):
            if float(row[key]) < 0:
                print(f"line {n}: {key} = {row[key]} is negative")
                bad += 1
print(f"{bad} bad values")
sys.exit(1 if bad else 0)
