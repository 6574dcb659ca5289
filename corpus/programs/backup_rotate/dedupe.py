"""Deduplicating backup: cuts files where a rolling hash says so and stores each chunk once."""
import hashlib
import os
import random
import sys
import zlib

versions = int(sys.argv[1])
rng = random.Random(77)
text = bytearray(rng.randbytes(90_000))
os.makedirs("store", exist_ok=True)
window, mask = 48, (1 << 11) - 1
kept = new = 0
for version in range(versions):
    for _ in range(20):
        text[rng.randrange(len(text))] = rng.randrange(256)
    start = value = 0
    for at, byte in enumerate(text):
        value = (value * 31 + byte) & 0xFFFFFFFF
        if at >= window:
            value = (value - text[at - window] * 31**window) & 0xFFFFFFFF
        if value & mask == mask or at - start > 8192 or at == len(text) - 1:
            chunk = bytes(text[start : at + 1])
            name = hashlib.sha1(chunk).hexdigest()
            if not os.path.exists(f"store/{name}"):
                with open(f"store/{name}", "wb") as out:
                    out.write(zlib.compress(chunk))
                new += 1
            kept += 1
            start = at + 1
print(kept, "chunks,", new, "stored")
