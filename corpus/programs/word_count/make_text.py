import itertools
import random
import sys

size, short = int(sys.argv[1]), int(sys.argv[2])
random.seed(31)
syllables = [a + b for a in "bcdfglmnprst" for b in "aeiou"]
words = ["".join(random.choices(syllables, k=random.randint(1, 4))) for _ in range(20000)]
weights = list(itertools.accumulate(1 / (i + 1) for i in range(len(words))))
for name, n in (("book.txt", size), ("page.txt", short)):
    with open(name, "w") as out:
        for _ in range(n):
            out.write(" ".join(random.choices(words, cum_weights=weights, k=12)) + "\n")
