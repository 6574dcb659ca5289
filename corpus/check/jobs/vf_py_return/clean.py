import csv
import sys


def rows(name):
    with open(name) as f:
        yield from csv.reader(f)


data = list(rows(sys.argv[0]))
if not data:
    return 1
print(len(data))
