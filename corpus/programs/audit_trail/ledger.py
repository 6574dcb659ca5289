"""Append-only ledger: each entry carries the hash of the one before it."""
import argparse
import hashlib
import json
import os

parser = argparse.ArgumentParser()
parser.add_argument("path")
parser.add_argument("--entries", type=int, default=100)
args = parser.parse_args()

digest = "0" * 64
with open(args.path, "a") as trail:
    for number in range(args.entries):
        entry = {"n": number, "who": f"user{number % 17}", "what": "update", "prev": digest}
        text = json.dumps(entry, sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()
        trail.write(text + "\n")
        trail.flush()
        os.fsync(trail.fileno())
print(digest)
