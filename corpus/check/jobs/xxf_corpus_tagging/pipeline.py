#!/usr/bin/env python3
import collections
import sys
import unicodedata

step, src, dst = sys.argv[1:4]
with open(src, encoding="utf-8") as fh:
    lines = fh.read().splitlines()

if step == "normalise":
    out = [unicodedata.normalize("NFC", l).lower() for l in lines]
elif step == "tag":
    ends = {"a": "NOUN", "e": "VERB"}
    out = [" ".join(w + "/" + ends.get(w[-1], "X") for w in l.split()) for l in lines]
else:
    c = collections.Counter(w.rsplit("/", 1)[1] for l in lines for w in l.split())
    out = ["%s\t%d" % kv for kv in c.most_common()]

with open(dst, "w", encoding="utf-8") as fh:
    fh.write("\n".join(out) + "\n")
