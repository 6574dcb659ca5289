#!/usr/bin/env python3
"""Divide the beam spectrum by the receiver template, smooth, write gains."""
import argparse

TEMPLATE = "rx_template.txt"


def column(path):
    with open(path) as fh:
        return [float(x) for x in fh if x.strip() and not x.startswith("#")]


def smooth(v, w):
    out = []
    for i in range(len(v)):
        part = v[max(0, i - w):i + w + 1]
        out.append(sum(part) / len(part))
    return out


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--beam", required=True)
    p.add_argument("--order", type=int, default=3)
    p.add_argument("--out", required=True)
    a = p.parse_args()
    spec = column("beam_%s.txt" % a.beam)
    ref = column(TEMPLATE)
    if len(spec) != len(ref):
        raise SystemExit("channel count differs: %d %d" % (len(spec), len(ref)))
    gains = smooth([s / r for s, r in zip(spec, ref)], a.order)
    with open(a.out, "w") as fh:
        fh.writelines("%.6f\n" % g for g in gains)


if __name__ == "__main__":
    main()
