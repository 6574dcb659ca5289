import random
import sys
from collections import Counter, defaultdict

nbr = defaultdict(list)
with open(sys.argv[1]) as fh:
    for line in fh:
        a, b = line.split()
        nbr[a].append(b)
        nbr[b].append(a)
rng = random.Random(int(sys.argv[2]))
print("cpus of the slot:", sys.argv[3], file=sys.stderr)
node, seen = "a", Counter()
for _ in range(100000):
    node = rng.choice(nbr[node])
    seen[node] += 1
for k, n in sorted(seen.items()):
    print(k, n)
