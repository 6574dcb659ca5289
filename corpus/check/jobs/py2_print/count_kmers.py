import sys
from collections import Counter

k = int(sys.argv[1])
seq = "ACGTACGTTGCA"
counts = Counter(seq[i:i + k] for i in range(len(seq) - k + 1))
for kmer, n in counts.items():
    print kmer, n
