import csv
import sys
from collections import defaultdict

people = {}
with open(sys.argv[1]) as f:
    for key, group in csv.reader(f, delimiter="\t"):
        people[key] = group
totals = defaultdict(lambda: [0, 0.0])
unknown = 0
with open(sys.argv[2]) as f:
    for _, key, value in csv.reader(f, delimiter="\t"):
        group = people.get(key)
        if group is None:
            unknown += 1
            continue
        entry = totals[group]
        entry[0] += 1
        entry[1] += float(value)
for group, (n, total) in sorted(totals.items()):
    print(group, n, round(total / n, 4))
print(unknown, "without a match", file=sys.stderr)
