#!/usr/bin/env python3
from collections import Counter
import sys


def records(path):
    seq = []
    with open(path) as fh:
        for line in fh:
            if line.startswith(">"):
                if seq:
                    yield "".join(seq)
                seq = []
            else:
                seq.append(line.strip())
    yield "".join(seq)


k = int(sys.argv[2])
count = Counter()
for s in records(sys.argv[1]):
    count.update(s[i:i + k] for i in range(len(s) - k + 1))
for kmer, n in count.items():
    print(kmer, n, sep="\t")
