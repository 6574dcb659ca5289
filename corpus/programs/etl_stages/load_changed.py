"""Loads only what changed since the last run: load.py for each changed part."""
import csv
import hashlib
import os
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
parts, rows = int(sys.argv[1]), int(sys.argv[2])
known = set()
for part in range(parts):
    body = [(f"t{part}", n, "harbor", n * 0.5 + part) for n in range(rows)]
    digest = hashlib.sha256(repr(body).encode()).hexdigest()
    if digest in known:
        continue
    known.add(digest)
    with open("clean.csv", "w", newline="") as out:
        csv.writer(out).writerows(body)
    subprocess.run([sys.executable, os.path.join(here, "load.py"), str(rows)], check=True)
print(len(known), "parts loaded")
