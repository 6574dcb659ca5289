#!/usr/bin/env python3
"""ASTM-like rainflow counting, half cycles only."""
import sys


def turning_points(x):
    out = [x[0]]
    for a, b, c in zip(x, x[1:], x[2:]):
        if (b - a) * (c - b) < 0:
            out.append(b)
    out.append(x[-1])
    return out


def count(points):
    stack, cycles = [], []
    for p in points:
        stack.append(p)
        while len(stack) >= 3:
            x, y = abs(stack[-1] - stack[-2]), abs(stack[-2] - stack[-3])
            if x < y:
                break
            cycles.append(y)
            del stack[-3:-1]
    cycles.extend(abs(b - a) for a, b in zip(stack, stack[1:]))
    return cycles


def main():
    src, dst = sys.argv[1:3]
    with open(src) as fh:
        strain = [float(l) for l in fh if l.strip()]
    cyc = count(turning_points(strain))
    with open(dst, "w") as fh:
        fh.write("range\n")
        for c in cyc:
            fh.write("%.2f\n" % c)
    return len(cyc)


if __name__ == "__main__":
    sys.exit(main())
