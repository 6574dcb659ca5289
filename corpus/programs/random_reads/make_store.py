import os
import sys

block = os.urandom(1 << 20)
with open("store.bin", "wb") as f:
    for i in range(int(sys.argv[1])):
        f.write(i.to_bytes(8, "little") + block[8:])
