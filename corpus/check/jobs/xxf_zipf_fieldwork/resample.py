#!/usr/bin/env python3
import os
import random
import sys


def read_lexicon(path):
    forms, weights = [], []
    with open(path, encoding="utf-8") as fh:
        for line in fh:
            form, n = line.rstrip("\n").split("\t")
            forms.append(form)
            weights.append(int(n))
    return forms, weights


def main(lex, outdir, n):
    forms, weights = read_lexicon(lex)
    rng = random.Random(1935)
    cum = []
    total = 0
    for w in weights:
        total += w
        cum.append(total)
    for i in range(n):
        form = rng.choices(forms, cum_weights=cum)[0]
        target = os.path.join(outdir, form[0] + ".txt")
        with open(target, "a", encoding="utf-8") as out:
            out.write("%d\t%s\n" % (i, form))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
