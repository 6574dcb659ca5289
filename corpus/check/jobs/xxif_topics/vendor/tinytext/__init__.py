import math
from collections import Counter


def tfidf(docs):
    df = Counter(w for ws in docs.values() for w in set(ws))
    out = {}
    for name, ws in docs.items():
        tf = Counter(ws)
        score = {w: n * math.log((1 + len(docs)) / df[w]) for w, n in tf.items()}
        out[name] = sorted(score, key=lambda w: (-score[w], w))
    return out
