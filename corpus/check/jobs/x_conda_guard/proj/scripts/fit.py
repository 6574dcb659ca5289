import json
import sys

xy = [tuple(map(float, l.split())) for l in sys.stdin if l.strip() and l[0] != "#"]
n = len(xy)
sx = sum(x for x, _ in xy); sy = sum(y for _, y in xy)
sxx = sum(x * x for x, _ in xy); sxy = sum(x * y for x, y in xy)
b = (n * sxy - sx * sy) / (n * sxx - sx * sx)
with open("params.json", "w") as fh:
    json.dump({"a": (sy - b * sx) / n, "b": b}, fh)
