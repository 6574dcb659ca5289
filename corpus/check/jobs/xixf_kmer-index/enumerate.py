import collections
import itertools
import sys

k = int(sys.argv[2])
n = collections.Counter()
comp = str.maketrans("ACGT", "TGCA")
with open(sys.argv[1]) as fh:
    for line in fh:
        if line[0] == ">":
            continue
        s = line.strip()
        for i in range(len(s) - k + 1):
            w = s[i:i + k]
            n[w] += 1
            # all neighbours at distance two
            for p, q in itertools.combinations(range(k), 2):
                for b, c in itertools.product("ACGT", repeat=2):
                    v = w[:p] + b + w[p + 1:q] + c + w[q + 1:]
                    n[min(v, v[::-1].translate(comp))] += 0
for w, c in n.items():
    if c:
        print(w, c, sep="\t")
