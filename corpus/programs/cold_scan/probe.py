"""Look up records at random places of a large table of fixed-size records."""
import os
import random
import struct
import sys

RECORD = struct.Struct("<QQ")
name, lookups = sys.argv[1], int(sys.argv[2])
fd = os.open(name, os.O_RDONLY)
records = os.fstat(fd).st_size // RECORD.size
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
rng = random.Random(1)
found = 0
for _ in range(lookups):
    key, value = RECORD.unpack(os.pread(fd, RECORD.size, rng.randrange(records) * RECORD.size))
    found += (key ^ value) & 1
print(found, "of", lookups)
