#!/usr/bin/env python3
# -*- coding: utf-8 -*-
# counts the words of one decade, without the stop words
import re
import sys
from collections import Counter


def read_stopwords(path):
    with open(path) as f:
        return set(line.strip().lower() for line in f if line.strip())


def tokens(path):
    with open(path) as f:
        for line in f:
            for word in re.findall(r"[a-z']+", line.lower()):
                yield word


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: count_words.py TEXT STOPWORDS")
    stop = read_stopwords(sys.argv[2])
    freq = Counter(w for w in tokens(sys.argv[1]) if w not in stop)
    total = sum(freq.values())
    for word, n in freq.most_common(1000):
        print "%s\t%d\t%.6f" % (word, n, n / float(total))


if __name__ == "__main__":
    main()
