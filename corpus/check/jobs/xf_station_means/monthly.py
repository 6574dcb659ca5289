"""Monthly mean temperature per station."""
import csv
import sys
from collections import defaultdict


def load(path):
    acc = defaultdict(list)
    with open(path, newline="") as fh:
        for row in csv.DictReader(fh):
            key = (row["station"], row["date"][:7])
            acc[key].append(float(row["temp_c"]))
    return acc


def main():
    src, dst = sys.argv[1:3]
    acc = load(src)
    with open(dst, "w", newline="") as fh:
        w = csv.writer(fh)
        w.writerow(["station", "month", "mean"])
        for (st, mo), vals in sorted(acc.items()):
            w.writerow([st, mo, round(sum(vals) / len(vals), 2)])


if __name__ == "__main__":
    main()
