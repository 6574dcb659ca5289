import csv

with open("stations.csv", newline="") as source:
    rows = list(csv.DictReader(source))
print(sum(float(row["mm"]) for row in rows))
