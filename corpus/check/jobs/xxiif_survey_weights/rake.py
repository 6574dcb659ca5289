import csv
import json
import sys

src, marg, dst = sys.argv[1:4]
with open(src, newline="") as fh:
    hh = list(csv.DictReader(fh))
with open(marg) as fh:
    margins = json.load(fh)
w = [1.0] * len(hh)
for sweep in range(50):
    worst = 0.0
    for var, target in margins.items():
        for level, want in target.items():
            idx = [i for i, h in enumerate(hh) if h[var] == level]
            have = sum(w[i] for i in idx)
            if not have:
                continue
            f = want / have
            worst = max(worst, abs(f - 1))
            for i in idx:
                w[i] *= f
    if worst < 1e-8:
        break
with open(dst, "w", newline="") as fh:
    out = csv.writer(fh)
    out.writerow(["id", "weight"])
    out.writerows((h["id"], "%.6f" % x) for h, x in zip(hh, w))
print("sweeps:", sweep + 1)
