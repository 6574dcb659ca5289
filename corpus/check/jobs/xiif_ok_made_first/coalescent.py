import argparse
import random

p = argparse.ArgumentParser()
p.add_argument("--n", type=int)
p.add_argument("--seed", type=int)
a = p.parse_args()
rng = random.Random(a.seed)
k, t = a.n, 0.0
lineages = [str(i) for i in range(a.n)]
while k > 1:
    t += rng.expovariate(k * (k - 1) / 2)
    i, j = sorted(rng.sample(range(k), 2))
    right = lineages.pop(j)
    lineages[i] = f"({lineages[i]},{right})"
    k -= 1
print("newick", lineages[0] + ";")
print("height", t)
