import math
from collections import defaultdict


def read(fname):
    """galaxy, period [d], I mag"""
    data = defaultdict(list)
    for line in open(fname):
        if line.startswith('#') or not line.strip():
            continue
        gal, p, m = line.split()
        data[gal].append((math.log10(float(p)), float(m)))
    return data


def lsq(points):
    n = float(len(points))
    sx = sum(p[0] for p in points)
    sy = sum(p[1] for p in points)
    sxx = sum(p[0] ** 2 for p in points)
    sxy = sum(p[0] * p[1] for p in points)
    a = (n * sxy - sx * sy) / (n * sxx - sx ** 2)
    return a, (sy - a * sx) / n


def fit_all(data):
    out = {}
    for gal, pts in data.iteritems():
        if len(pts) < 3:
            continue
        a, b = lsq(pts)
        out[gal] = (a, b, len(pts))
    return out
