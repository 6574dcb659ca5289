#!/usr/bin/env python3
import argparse
import csv
import os

ap = argparse.ArgumentParser()
ap.add_argument("--bucket", required=True)
ap.add_argument("--table", required=True)
a = ap.parse_args()
endpoint = os.environ["S3_ENDPOINT"]
os.environ["AWS_SECRET_ACCESS_KEY"]
with open(a.table, newline="") as fh:
    for row in csv.DictReader(fh):
        print(f"{endpoint}/{a.bucket}/{row['run']}.tar")
