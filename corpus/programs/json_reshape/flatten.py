import csv
import json
import sys


def flat(value, prefix=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flat(inner, f"{prefix}{key}.")
    elif isinstance(value, list):
        for n, inner in enumerate(value):
            yield from flat(inner, f"{prefix}{n}.")
    else:
        yield prefix[:-1], value


with open(sys.argv[1]) as f:
    lines = f.readlines()
for again in range(int(sys.argv[2])):
    rows = [dict(flat(json.loads(line))) for line in lines]
    columns = sorted({name for row in rows for name in row})
    with open(f"events{again}.csv", "w", newline="") as out:
        writer = csv.DictWriter(out, columns)
        writer.writeheader()
        writer.writerows(rows)
    print(len(rows), "rows", len(columns), "columns")
