#!/usr/bin/env python3
"""Mean revenue of second price auctions with uniform values."""
import argparse
import random
import sys


def revenue(rng, bidders):
    bids = sorted(rng.random() for _ in range(bidders))
    return bids[-2]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--bidders", type=int, required=True)
    ap.add_argument("--seed", type=int, default=0)
    a = ap.parse_args()
    if a.bidders < 2:
        print("at least two bidders", file=sys.stderr)
        return 2
    rng = random.Random(a.seed)
    n = 100000
    print(a.bidders, sum(revenue(rng, a.bidders) for _ in range(n)) / n)
    return 0


if __name__ == "__main__":
    sys.exit(main())
