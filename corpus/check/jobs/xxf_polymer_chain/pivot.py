import argparse
import random

ap = argparse.ArgumentParser()
ap.add_argument("--length", type=int)
ap.add_argument("--seed", type=int)
ap.add_argument("--out")
a = ap.parse_args()
rng = random.Random(a.seed)
ROT = [lambda x, y: (-y, x), lambda x, y: (y, -x), lambda x, y: (-x, -y), lambda x, y: (x, -y)]

chain = [(i, 0) for i in range(a.length)]
rgs = []
for step in range(4000):
    k = rng.randrange(1, a.length - 1)
    px, py = chain[k]
    r = rng.choice(ROT)
    new = chain[:k + 1]
    for x, y in chain[k + 1:]:
        dx, dy = r(x - px, y - py)
        new.append((px + dx, py + dy))
    if len(set(new)) == len(new):
        chain = new
    if step > 1000:
        cx = sum(x for x, _ in chain) / a.length
        cy = sum(y for _, y in chain) / a.length
        rgs.append(sum((x - cx) ** 2 + (y - cy) ** 2 for x, y in chain) / a.length)
with open(a.out, "w") as fh:
    fh.write("%d %.3f\n" % (a.length, sum(rgs) / len(rgs)))
