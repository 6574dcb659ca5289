#!/usr/bin/env python3
import csv
import os
import sys
from pathlib import Path

token_file = Path(os.environ["API_TOKEN_FILE"])
token = token_file.read_text().strip() if token_file.is_file() else None
print("with token" if token else "anonymous", os.environ["USE_PASSWORD"])
with open(sys.argv[1], newline="") as fh:
    for row in csv.DictReader(fh):
        print(row["run"], row["site"])
