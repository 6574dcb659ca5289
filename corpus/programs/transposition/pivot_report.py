import csv
import io
import random
from collections import defaultdict
import sys

n = int(sys.argv[1])
random.seed(3)
shops = ["north", "south", "east", "west", "center"]
# the export has one line per sale
raw = io.StringIO()
w = csv.writer(raw)
for i in range(n):
    w.writerow([f"2024-{i % 12 + 1:02}", random.choice(shops), round(random.gauss(50, 10), 2)])
raw.seek(0)

table = defaultdict(lambda: defaultdict(float))
for month, shop, amount in csv.reader(raw):
    table[month][shop] += float(amount)
print("month   " + "".join(f"{s:>14}" for s in shops))
for month in sorted(table):
    print(month + " " + "".join(f"{table[month][s]:14.2f}" for s in shops))
