import json
import random
import sys

random.seed(14)
for name, n in (("records.jsonl", int(sys.argv[1])), ("few.jsonl", int(sys.argv[2]))):
    with open(name, "w") as out:
        for i in range(n):
            record = {"id": i, "name": f"station {i % 977}", "tags": random.sample("abcdefghij", 4),
                      "geo": {"lat": random.uniform(-91, 91), "lon": random.uniform(-180, 180)},
                      "values": [round(random.gauss(0, 1), 3) for _ in range(12)]}
            out.write(json.dumps(record) + "\n")
