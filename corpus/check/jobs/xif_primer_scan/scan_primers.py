#!/usr/bin/env python3
"""List windows of a template whose Wallace melting temperature fits."""
import argparse


def wallace(s):
    return 2 * (s.count("A") + s.count("T")) + 4 * (s.count("G") + s.count("C"))


ap = argparse.ArgumentParser(description=__doc__)
ap.add_argument("template")
ap.add_argument("-l", "--length", type=int, default=20)
ap.add_argument("--min-tm", type=float, required=True)
ap.add_argument("--max-tm", type=float, required=True)
a = ap.parse_args()

seq = "".join(l.strip().upper() for l in open(a.template) if not l.startswith(">"))
for i in range(len(seq) - a.length + 1):
    w = seq[i:i + a.length]
    tm = wallace(w)
    if a.min_tm <= tm <= a.max_tm:
        print(i + 1, w, tm, sep="\t")
