# exports every row of a sheet as its own little CSV (that's what the importer wants)
import csv
import os
import sys

rows = int(sys.argv[1])
header = ["article", "stock", "place"]
os.mkdir("export")
for r in range(rows):
    f = open("export/row%05d.csv" % r, "w", newline="")
    w = csv.writer(f)
    w.writerow(header)
    w.writerow(["A%d" % r, r * 17 % 91, "shelf %d" % (r % 12)])
    f.flush()
    os.fdatasync(f.fileno())
    f.close()
os.sync()
print("exported", rows)
