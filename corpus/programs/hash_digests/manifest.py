"""Digests of generated records; a content-addressed store in memory."""
import hashlib
import sys

count = int(sys.argv[1])
store = {}
for i in range(count):
    record = (b"%d;" % (i % 50000)) * 40
    store[hashlib.sha256(record).digest()] = i
print(len(store), "different records")
