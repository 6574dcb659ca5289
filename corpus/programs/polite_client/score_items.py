"""Fetch a few items from the API and rank them. Mostly waits for the rate limiter."""
import sys
import time

import requests


def distance(a, b):
    """Edit distance."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return row[-1]


base, count, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
session = requests.Session()
texts = []
for k in range(count):
    texts.append(session.get(f"{base}/words/{60 + k}", timeout=10).text)
    time.sleep(0.02)
scores = {}
for r in range(rounds):
    for i, a in enumerate(texts):
        for j, b in enumerate(texts[:i]):
            scores[i, j] = distance(a[r : r + 220], b[: 200 + r])
print(min(scores, key=scores.get), min(scores.values()))
