"""transform.py PASSES: cleans raw/*.csv, writes clean.csv"""
import csv
import pathlib
import statistics
import sys

passes = int(sys.argv[1])
rows = []
for path in sorted(pathlib.Path("raw").glob("*.csv")):
    with open(path, newline="") as f:
        rows += [(path.stem, int(r["id"]), r["key"].strip().title(), float(r["value"])) for r in csv.DictReader(f)]
rows = rows[:60_000]
for n in range(passes):
    groups = {}
    for table, ident, key, value in rows:
        groups.setdefault((key, ident % (7 + n)), []).append(value)
    limits = {}
    for group, values in groups.items():
        values.sort()
        middle, spread = statistics.median(values), statistics.pstdev(values)
        limits[group] = (middle - 3 * spread, middle + 3 * spread)
    rows = [r for r in rows if limits[r[2], r[1] % (7 + n)][0] <= r[3] <= limits[r[2], r[1] % (7 + n)][1]]
with open("clean.csv", "w", newline="") as out:
    csv.writer(out).writerows(rows)
print(len(rows), "clean rows")
