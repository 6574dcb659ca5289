"""LSA topics of parliamentary speeches (one per line)."""
import sys

import numpy as np

path, k = sys.argv[1], int(sys.argv[2])
with open(path, encoding="utf-8") as fh:
    docs = [l.lower().split() for l in fh if l.strip()]
vocab = sorted({w for d in docs for w in d})
ix = {w: i for i, w in enumerate(vocab)}
X = np.zeros((len(docs), len(vocab)))
for r, d in enumerate(docs):
    for w in d:
        X[r, ix[w]] += 1
X /= np.log1p((X > 0).sum(axis=0)) + 1e-9
U, s, Vt = np.linalg.svd(X, full_matrices=False)
for t in range(min(k, len(s))):
    top = np.argsort(-np.abs(Vt[t]))[:5]
    print("%d %.3f %s" % (t, s[t], " ".join(vocab[i] for i in top)))
