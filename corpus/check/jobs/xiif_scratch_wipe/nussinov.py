import sys
from functools import lru_cache

PAIRS = {"AU", "UA", "GC", "CG", "GU", "UG"}


def best(seq):
    @lru_cache(None)
    def f(i, j):
        if j - i < 4:
            return 0
        m = f(i + 1, j)
        for k in range(i + 4, j + 1):
            if seq[i] + seq[k] in PAIRS:
                m = max(m, 1 + f(i + 1, k - 1) + f(k + 1, j))
        return m
    return f(0, len(seq) - 1)


name = None
for line in open(sys.argv[1]):
    line = line.strip()
    if line.startswith(">"):
        name = line[1:]
    elif line:
        print(name, len(line), best(line))
