#!/usr/bin/env python3
import argparse
import json
from collections import Counter

ap = argparse.ArgumentParser()
ap.add_argument("--docs", required=True)
ap.add_argument("--topics", type=int, required=True)
ap.add_argument("--stop", default="")
a = ap.parse_args()
stop = set(a.stop.split())
bins = [Counter() for _ in range(a.topics)]
for line in open(a.docs):
    for w in line.lower().split():
        if w not in stop:
            bins[sum(map(ord, w)) % a.topics][w] += 1
json.dump([b.most_common(3) for b in bins], open("topics.json", "w"))
