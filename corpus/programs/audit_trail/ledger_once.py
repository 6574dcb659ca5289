import hashlib
import json
import sys

digest = "0" * 64
with open(sys.argv[2], "w") as trail:
    for n in range(int(sys.argv[1])):
        text = json.dumps({"n": n, "who": f"user{n % 17}", "what": "update", "prev": digest}, sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()
        trail.write(text + "\n")
