"""extract.py URL TABLES ROWS: tables from the source system into raw/"""
import os
import sys
import urllib.request

base, tables, rows = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
os.makedirs("raw", exist_ok=True)
for t in range(tables):
    with urllib.request.urlopen(f"{base}/table/{rows + t}") as source, open(f"raw/t{t}.csv", "wb") as out:
        while piece := source.read(1 << 16):
            out.write(piece)
