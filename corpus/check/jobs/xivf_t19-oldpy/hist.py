import sys

bins = {}
for line in open(sys.argv[1]):
    e = float(line)
    b = int(e // 0.5)
    bins[b] = bins.get(b, 0) + 1

for b in sorted(bins):
    print b * 0.5, bins[b]
