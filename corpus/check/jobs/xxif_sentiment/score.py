#!/usr/bin/env python3
import re
import sys


def load(path):
    lex = {}
    with open(path) as fh:
        for line in fh:
            word, value = line.rstrip("\n").split("\t")
            lex[word] = float(value)
    return lex


def main():
    lex = load(sys.argv[2])
    with open(sys.argv[1]) as fh:
        for number, line in enumerate(fh, 1):
            words = re.findall(r"[a-z]+", line.lower())
            hits = [lex[w] for w in words if w in lex]
            score = sum(hits) / len(hits) if hits else 0.0
            print(f"{number}\t{len(words)}\t{score:.3f}")


if __name__ == "__main__":
    main()
