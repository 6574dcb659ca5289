import random
import sys

lam, n = float(sys.argv[1]), int(sys.argv[2])
rng = random.Random(int(lam * 100))


def bid(v, k):
    # symmetric equilibrium with k bidders, loss weight lam
    return v * (k - 1) / (k - 1 + 1 / lam)


print("k,revenue,efficiency")
for k in (2, 3, 5, 8):
    rev = eff = 0.0
    for _ in range(n):
        vals = [rng.random() for _ in range(k)]
        bids = [bid(v, k) + rng.gauss(0, 0.01) for v in vals]
        w = max(range(k), key=bids.__getitem__)
        rev += bids[w]
        eff += vals[w] == max(vals)
    print("%d,%.5f,%.4f" % (k, rev / n, eff / n))
