import csv
import sys

BRACKETS = [(12000, 0.0), (30000, 0.2), (70000, 0.32), (float("inf"), 0.45)]


def progressive(y):
    tax, low = 0.0, 0.0
    for top, rate in BRACKETS:
        tax += max(0.0, min(y, top) - low) * rate
        low = top
    return tax


def flat(y):
    return 0.27 * max(0.0, y - 9000)


fun = {"flat": flat, "progressive": progressive}[sys.argv[2]]
total = 0.0
with open(sys.argv[1], newline="") as fh:
    for r in csv.DictReader(fh):
        total += fun(float(r["income"])) - 300 * int(r["kids"])
print(sys.argv[2], "%.0f" % total)
