"""A document store with one file per document, written safely."""
import json
import os
import sys


def put(folder, doc):
    path = os.path.join(folder, f"{doc['id'] % 16:x}", f"{doc['id']}.json")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + "~", "w") as f:
        json.dump(doc, f, indent=1)
        f.flush()
        os.fsync(f.fileno())
    os.rename(path + "~", path)


count = 0
with open(sys.argv[1]) as events:
    for line in events:
        put("store", json.loads(line))
        count += 1
        if count == int(sys.argv[2]):
            break
print(count, "documents stored")
