import itertools
import random
import sys

random.seed(12)
words = ["".join(random.choices("etaoinshrdlucmfw", k=random.randint(2, 9))) for _ in range(4000)]
cumulative = list(itertools.accumulate(1 / (k + 1) for k in range(4000)))
with open(sys.argv[2], "w") as out:
    for _ in range(int(sys.argv[1])):
        out.write(" ".join(random.choices(words, cum_weights=cumulative, k=12)) + "\n")
