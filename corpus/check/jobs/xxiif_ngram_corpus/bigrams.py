"""Bigram counts of one transcript (from Henrik's thesis scripts)."""
import re
import sys
from collections import Counter


def words(path):
    with open(path, encoding="utf-8") as fh:
        for line in fh:
            for w in re.findall(r"\w+", line.lower()):
                yield w


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: bigrams.py FILE")
    seq = list(words(sys.argv[1]))
    c = Counter(zip(seq, seq[1:]))
    for (a, b), n in sorted(c.items(), key=lambda kv: (-kv[1], kv[0])):
        print "%s\t%s\t%d" % (a, b, n)


if __name__ == "__main__":
    main()
