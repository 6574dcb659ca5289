import csv
import sys

with open(sys.argv[1]) as stream:
    print(sum(float(row["x"]) for row in csv.DictReader(stream)))
