"""draw.py COUNT WIDTH: test pictures as PGM"""
import sys

count, width = map(int, sys.argv[1:])
for n in range(count):
    with open(f"picture{n}.pgm", "wb") as out:
        out.write(b"P5\n%d %d\n255\n" % (width, width))
        row = bytes((x * (n + 3)) % 256 for x in range(width))
        out.writelines(row[y % width :] + row[: y % width] for y in range(width))
