#!/usr/bin/env python3
"""Shift and flip ASCII bitmaps; writes every OFth image."""
import json
import os
import random
import sys
import tempfile

if len(sys.argv) != 5:
    sys.exit(64)
src, dst, shard, of = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
with open("augment.json") as fh:
    cfg = json.load(fh)
rng = random.Random(shard)


def images(path):
    img = []
    with open(path) as fh:
        for l in fh:
            if l.strip():
                img.append(l.rstrip("\n"))
            elif img:
                yield img
                img = []
    if img:
        yield img


def shift(img, k):
    return [("." * k + r)[:len(r)] for r in img]


try:
    tmp = tempfile.NamedTemporaryFile("w", dir=".", delete=False)
except OSError:
    sys.exit(75)          # disk trouble on the worker, another one may do
with tmp as out:
    for i, img in enumerate(images(src)):
        if i % of != shard:
            continue
        for _ in range(cfg["copies"]):
            new = shift(img, rng.randrange(cfg["max_shift"] + 1))
            if cfg["flip"] and rng.random() < 0.5:
                new = [r[::-1] for r in new]
            out.write("\n".join(new) + "\n\n")
os.replace(tmp.name, dst)
