"""Which compressor is best for our telemetry? Made-up samples, all in memory."""
import bz2
import lzma
import random
import struct
import sys
import zlib

n = int(sys.argv[1])
random.seed(1)
level = 0.0
pieces = []
for i in range(n):
    level += random.gauss(0, 0.1)
    pieces.append(struct.pack("<If", i, round(level, 2)))
raw = b"".join(pieces)
for name, squeeze in (
    ("zlib 1", lambda d: zlib.compress(d, 1)),
    ("zlib 9", lambda d: zlib.compress(d, 9)),
    ("bz2", bz2.compress),
    ("lzma", lambda d: lzma.compress(d, preset=3)),
):
    print(f"{name:8} {len(squeeze(raw)) / len(raw):.3f}")
