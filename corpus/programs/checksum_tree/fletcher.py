import os
import sys


def fletcher(path):
    """Fletcher's checksum of a file, modulo 65535."""
    low = high = 0
    with open(path, "rb") as f:
        while block := f.read(4096):
            for byte in block:
                low = (low + byte) % 65535
                high = (high + low) % 65535
    return high << 16 | low


root, times = sys.argv[1], int(sys.argv[2])
if os.path.isfile(root):
    paths = [root]
else:
    paths = sorted(os.path.join(root, name) for name in os.listdir(root))
for _ in range(times):
    for path in paths:
        print(f"{fletcher(path):08x} {path}")
