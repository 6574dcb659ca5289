"""Check a ledger written by ledger.py: every entry must name the hash of the one before.

The file is synced to disk record by record by its writer; here it is only read.
"""
import hashlib
import json
import os
import sys

path, salts = sys.argv[1], int(sys.argv[2])
for salt in range(salts):
    previous, bad = "0" * 64, 0
    with open(path) as trail:
        for line in trail:
            entry = json.loads(line)
            if entry["prev"] != previous:
                bad += 1
            text = json.dumps(entry, sort_keys=True)
            previous = hashlib.sha256(text.encode()).hexdigest()
            hashlib.blake2b(text.encode(), salt=salt.to_bytes(16, "big")).digest()
    print(os.path.basename(path), bad, previous[:12])
