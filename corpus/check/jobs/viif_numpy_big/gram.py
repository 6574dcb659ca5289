import sys

n = 40_000
buf = bytearray(n * n * 8)
for i in range(n):
    buf[i * 8] = 1
sys.stdout.write(str(len(buf)))
