"""Compress a file at every level and with several window sizes, and tabulate the sizes."""
import sys
import zlib

name, most = sys.argv[1], int(sys.argv[2])
with open(name, "rb") as f:
    text = f.read()
print(f"{name}: {len(text)} bytes")
rows = 0
for level in (9, 6, 3, 1):
    for window in (15, 13, 11, 9):
        if rows >= most:
            break
        packer = zlib.compressobj(level, zlib.DEFLATED, window)
        size = len(packer.compress(text)) + len(packer.flush())
        rows += 1
        print(level, window, size, f"{size / len(text):.3f}")
        with open(f"{name}.{level}.{window}.size", "w") as out:
            out.write(str(size))
