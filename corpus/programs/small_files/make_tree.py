import os
import sys

files, size = int(sys.argv[1]), int(sys.argv[2])
block = os.urandom(size)
for i in range(files):
    folder = f"tree/{i % 50:02}"
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/{i:06}.dat", "wb") as f:
        f.write(block)
