#!/usr/bin/env python3
# table of all phases, filled once and then summed
N = 4 * 1024 * 1024 * 1024
table = bytearray(b"\x01") * N
total = 0
for start in range(0, N, 1 << 24):
    total += sum(table[start:start + 16])
print("checksum", total)
