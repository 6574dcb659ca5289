#!/usr/bin/env python3
"""Download a file and find its content-defined chunks (for deduplication)."""
import hashlib
import sys

import requests

url, passes = sys.argv[1], int(sys.argv[2])
with requests.get(url, stream=True, timeout=30) as reply:
    reply.raise_for_status()
    data = b"".join(reply.iter_content(1 << 16))
print("got", len(data), "bytes from", url)

gear = [int.from_bytes(hashlib.sha256(bytes([b])).digest()[:8], "big") for b in range(256)]
for bits in range(8, 8 + passes):
    mask = (1 << (bits % 16 + 4)) - 1
    rolling, start, chunks = 0, 0, set()
    for at, byte in enumerate(data[:300_000]):
        rolling = (rolling << 1) + gear[byte] & 0xFFFFFFFFFFFFFFFF
        if rolling & mask == 0 and at - start > 64:
            chunks.add(data[start:at])
            start = at
    print(bits, len(chunks))
