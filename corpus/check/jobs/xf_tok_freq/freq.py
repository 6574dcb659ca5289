"""Word frequencies per million from stdin."""
import argparse
import re
import sys
from collections import Counter

WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?", re.UNICODE)


def count(stream):
    c = Counter()
    total = 0
    for line in stream:
        words = [w.lower() for w in WORD.findall(line)]
        total += len(words)
        c.update(words)
    return c


def write_table(c, minimum, out):
    out.write("word\tn\tpm\n")
    for w, n in c.most_common():
        if n < minimum:
            break
        out.write("%s\t%d\t%.1f\n" % (w, n, 1e6 * n / total))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--min", type=int, default=5)
    a = p.parse_args()
    write_table(count(sys.stdin), a.min, sys.stdout)


main()
