"""Fixed-effects wage regression (within transformation), table 3."""
import sys
from collections import defaultdict

import tabula
import linreg


def within(rows):
    groups = defaultdict(list)
    for r in rows:
        groups[r["firm"]].append(r)
    for firm, rs in groups.items():
        mx = sum(float(r["tenure"]) for r in rs) / len(rs)
        my = sum(float(r["lwage"]) for r in rs) / len(rs)
        for r in rs:
            yield float(r["tenure"]) - mx, float(r["lwage"]) - my


def main():
    rows = tabula.read(sys.argv[1])
    xy = list(within(rows))
    fit = linreg.ols([x for x, _ in xy], [y for _, y in xy])
    print("tenure  %.4f  (%.4f)" % (fit.beta, fit.se))


main()
