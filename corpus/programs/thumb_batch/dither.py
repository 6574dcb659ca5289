"""Floyd-Steinberg dithering of all pictures here, without any library."""
import glob
import sys


def read_pgm(path):
    with open(path, "rb") as f:
        assert f.readline() == b"P5\n"
        width, height = map(int, f.readline().split())
        f.readline()
        data = f.read()
    return width, height, [list(data[y * width : (y + 1) * width]) for y in range(height)]


for path in sorted(glob.glob("picture*.pgm"))[: int(sys.argv[1])]:
    width, height, rows = read_pgm(path)
    for y in range(height - 1):
        row, below = rows[y], rows[y + 1]
        for x in range(1, width - 1):
            old = row[x]
            new = row[x] = 255 if old > 127 else 0
            error = old - new
            row[x + 1] += error * 7 / 16
            below[x - 1] += error * 3 / 16
            below[x] += error * 5 / 16
            below[x + 1] += error / 16
    with open(path.replace("picture", "dither"), "wb") as out:
        out.write(b"P5\n%d %d\n255\n" % (width, height))
        out.writelines(bytes(255 if v > 127 else 0 for v in row) for row in rows)
    print(path)
