import csv
import sys

with open(sys.argv[1], newline="") as fh:
    rows = list(csv.DictReader(fh))
if not rows or "reads" not in rows[0]:
    sys.exit(f"{sys.argv[1]}: no column reads")
print(sum(int(r["reads"]) for r in rows))
