#!/usr/bin/env python3
"""Ask the listings service for one city and build monthly means."""
import base64
import csv
import os
import sys
from collections import defaultdict
from urllib.request import Request, urlopen

city = sys.argv[1]
user, pw = os.environ["PGUSER"], os.environ["PGPASSWORD"]
req = Request("https://%s/listings?city=%s" % (os.environ["PGHOST"], city))
tok = base64.b64encode(("%s:%s" % (user, pw)).encode()).decode()
req.add_header("Authorization", "Basic " + tok)

month = defaultdict(list)
with urlopen(req, timeout=120) as resp:
    for row in csv.DictReader(resp.read().decode().splitlines()):
        if float(row["sqm"]) > 10:
            month[row["date"][:7]].append(float(row["rent"]) / float(row["sqm"]))

with open("rents_%s.csv" % city, "w", newline="") as fh:
    w = csv.writer(fh)
    w.writerow(["month", "rent_sqm", "n"])
    for m in sorted(month):
        v = month[m]
        w.writerow([m, round(sum(v) / len(v), 3), len(v)])
