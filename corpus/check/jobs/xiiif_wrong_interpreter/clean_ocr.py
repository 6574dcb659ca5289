#!/usr/bin/env pyhton3
"""Repair OCR text of early prints with a word list."""
import argparse
import itertools
import re
import sys


def variants(word):
    spots = [i for i, c in enumerate(word) if c == "f"]
    for k in range(1, len(spots) + 1):
        for combo in itertools.combinations(spots, k):
            yield "".join("s" if i in combo else c for i, c in enumerate(word))


def repair(word, known):
    low = word.lower()
    if low in known:
        return word
    for v in variants(low):
        if v in known:
            return v.capitalize() if word[0].isupper() else v
    return word


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--dict", required=True)
    ap.add_argument("page")
    a = ap.parse_args()
    with open(a.dict, encoding="utf-8") as fh:
        known = {w.strip().lower() for w in fh}
    with open(a.page, encoding="utf-8") as fh:
        text = re.sub(r"-\n(\w+)", r"\1\n", fh.read())
    sys.stdout.write(re.sub(r"[A-Za-z]+", lambda m: repair(m.group(), known), text))


if __name__ == "__main__":
    main()
