#!/usr/bin/env python3
"""Linear energy calibration from the two strongest peaks."""
import sys


def read_spe(path):
    with open(path) as fh:
        return [int(x) for x in fh.read().split()]


def read_lines(path):
    with open(path) as fh:
        return sorted(float(l.split()[1]) for l in fh if l.strip() and l[0] != "#")


def peaks(spec, n):
    cand = [i for i in range(1, len(spec) - 1)
            if spec[i] > spec[i - 1] and spec[i] >= spec[i + 1]]
    cand.sort(key=lambda i: -spec[i])
    return sorted(cand[:n])


def main():
    spec = read_spe(sys.argv[1])
    ref = read_lines("lines.txt")
    found = peaks(spec, len(ref))
    print >>sys.stderr, "%s: %d channels, peaks at %s" % (sys.argv[1], len(spec), found)
    if len(found) < 2:
        sys.exit("too few peaks")
    gain = (ref[-1] - ref[0]) / (found[-1] - found[0])
    print("gain %.6f offset %.4f" % (gain, ref[0] - gain * found[0]))


if __name__ == "__main__":
    main()
