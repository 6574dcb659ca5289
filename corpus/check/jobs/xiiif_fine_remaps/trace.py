#!/usr/bin/env python3
"""Parallel light on the inside of a circular cup; grey map of the hits."""
import math
import sys

try:
    angle = math.radians(float(sys.argv[1]))
except (IndexError, ValueError):
    sys.exit("usage: trace.py DEGREES")

N = 96
img = [[0] * N for _ in range(N)]
dx, dy = math.cos(angle), math.sin(angle)
for k in range(-400, 401):
    b = k / 401
    s = math.sqrt(1 - b * b)
    px, py = -b * dy + s * dx, b * dx + s * dy        # hit on the wall
    dot = dx * px + dy * py
    rx, ry = dx - 2 * dot * px, dy - 2 * dot * py     # reflected ray
    for t in range(150):
        x, y = px + rx * t / 75, py + ry * t / 75
        if x * x + y * y > 1.0001:
            continue
        i, j = int((x + 1) / 2 * (N - 1)), int((y + 1) / 2 * (N - 1))
        img[j][i] += 1

top = max(map(max, img))
with open("image.pgm", "w") as fh:
    fh.write(f"P2\n{N} {N}\n255\n")
    for row in img:
        fh.write(" ".join(str(255 * v // top) for v in row) + "\n")
print("brightest", top)
