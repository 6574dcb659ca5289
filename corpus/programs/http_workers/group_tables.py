"""Worker that downloads tables and groups them; a bigger network link would help a lot."""
import csv
import io
import sys
from collections import defaultdict

import requests

base, tables, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
texts = []
with requests.Session() as session:
    for n in range(tables):
        reply = session.get(f"{base}/table/{4000 + n}", timeout=30)
        texts.append(reply.text)
for r in range(rounds):
    groups = defaultdict(list)
    for text in texts:
        for row in csv.DictReader(io.StringIO(text)):
            groups[row["key"], int(row["id"]) % (r + 2)].append(float(row["value"]))
    spread = {key: max(v) - min(v) + sorted(v)[len(v) // 2] for key, v in groups.items()}
print(max(spread.items(), key=lambda item: item[1]))
