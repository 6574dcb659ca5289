"""Dynamic time warping between heart beats (generated)."""
import math
import sys


def beat(phase, n=120):
    return [math.exp(-((i - 60 - phase) / 6) ** 2) - 0.2 * math.exp(-((i - 75) / 8) ** 2) for i in range(n)]


def dtw(a, b, band=30):
    inf = math.inf
    row = [0.0] + [inf] * len(b)
    for i, x in enumerate(a, 1):
        new = [inf] * (len(b) + 1)
        for j in range(max(1, i - band), min(len(b), i + band) + 1):
            cost = abs(x - b[j - 1])
            new[j] = cost + min(row[j], new[j - 1], row[j - 1])
        row = new
    return row[-1]


count = int(sys.argv[1])
beats = [beat(i % 11 - 5) for i in range(count)]
nearest = min((dtw(beats[i], beats[j]), i, j) for i in range(count) for j in range(i))
print(nearest)
