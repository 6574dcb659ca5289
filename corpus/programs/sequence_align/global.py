#!/usr/bin/env python3
"""Needleman-Wunsch scores of random reads against a reference."""
import random
import sys

MATCH, MISMATCH, GAP = 2, -1, -2


def score(a, b):
    previous = [j * GAP for j in range(len(b) + 1)]
    for i, x in enumerate(a, 1):
        current = [i * GAP]
        for j, y in enumerate(b, 1):
            diagonal = previous[j - 1] + (MATCH if x == y else MISMATCH)
            current.append(max(diagonal, previous[j] + GAP, current[-1] + GAP))
        previous = current
    return previous[-1]


def main():
    reads = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    random.seed(6)
    reference = "".join(random.choices("ACGT", k=300))
    for _ in range(reads):
        start = random.randrange(200)
        read = list(reference[start : start + 100])
        for _ in range(5):
            read[random.randrange(100)] = random.choice("ACGT")
        print(start, score(read, reference))


main()
