"""Bridge equation: GDP growth on two monthly indicators.

Old call, from the Python 2 days:
    print "nowcast", x
"""
import csv
import sys


def solve(a, b):
    n = len(b)
    m = [row[:] + [v] for row, v in zip(a, b)]
    for i in range(n):
        p = max(range(i, n), key=lambda r: abs(m[r][i]))
        m[i], m[p] = m[p], m[i]
        for r in range(i + 1, n):
            f = m[r][i] / m[i][i]
            m[r] = [x - f * y for x, y in zip(m[r], m[i])]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (m[i][n] - sum(m[i][j] * x[j] for j in range(i + 1, n))) / m[i][i]
    return x


with open(sys.argv[1], newline="") as fh:
    rows = list(csv.DictReader(fh))
known = [r for r in rows if r["gdp"]]
X = [[1.0, float(r["ip"]), float(r["pmi"])] for r in known]
y = [float(r["gdp"]) for r in known]
A = [[sum(u[i] * u[j] for u in X) for j in range(3)] for i in range(3)]
c = [sum(u[i] * v for u, v in zip(X, y)) for i in range(3)]
beta = solve(A, c)
for r in rows:
    if not r["gdp"]:
        v = [1.0, float(r["ip"]), float(r["pmi"])]
        print(r["q"], "%.2f" % sum(b * x for b, x in zip(beta, v)))
