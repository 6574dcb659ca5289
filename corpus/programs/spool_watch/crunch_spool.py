#!/usr/bin/env python3
"""Pick up jobs from a spool folder; sleeps between looks so as not to load the machine."""
import os
import sys
import time

spool, jobs = sys.argv[1], int(sys.argv[2])
for k in range(jobs):
    with open(os.path.join(spool, f"{k:03d}.job"), "w") as f:
        f.write(f"{3 + k % 5} {90_001 + 2 * k}\n")


def smallest_factors(limit):
    table = list(range(limit + 1))
    for p in range(2, int(limit**0.5) + 1):
        if table[p] == p:
            for q in range(p * p, limit + 1, p):
                if table[q] == q:
                    table[q] = p
    return table


while True:
    names = sorted(os.listdir(spool))
    if not names:
        break
    for name in names:
        path = os.path.join(spool, name)
        power, limit = map(int, open(path).read().split())
        table = smallest_factors(limit)
        print(name, sum(pow(p, power, 10_007) for p in table[2:] if p) % 10_007)
        os.remove(path)
    time.sleep(0.05)
