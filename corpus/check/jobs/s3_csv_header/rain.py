import csv
import sys
with open(sys.argv[1], newline="") as source:
    rows = csv.DictReader(source)
    total = sum(float(row["mm"]) for row in rows)
print(f"{total:.1f}")
