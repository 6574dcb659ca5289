import csv
import sys

rows = [(float(r["x"]), float(r["y"])) for r in csv.DictReader(open(sys.argv[1]))]
mx = sum(x for x, _ in rows) / len(rows)
my = sum(y for _, y in rows) / len(rows)
slope = sum((x - mx) * (y - my) for x, y in rows) / sum((x - mx) ** 2 for x, _ in rows)
print("slope %.3f" % slope)
