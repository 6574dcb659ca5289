import argparse

ap = argparse.ArgumentParser()
ap.add_argument("--label", default="")
ap.add_argument("file")
o = ap.parse_args()
with open(o.file) as fh:
    x = sorted(float(l) for l in fh if l.strip())
n = len(x)
g = sum((2 * i - n + 1) * v for i, v in enumerate(x)) / (n * sum(x))
print("%s: n=%d gini=%.3f" % (o.label, n, g))
