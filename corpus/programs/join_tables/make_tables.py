import random
import sys

random.seed(6)
for suffix, n in (("", int(sys.argv[1])), ("_short", int(sys.argv[2]))):
    with open(f"left{suffix}.tsv", "w") as f:
        for i in range(1000):
            f.write(f"{i}\tgroup{i % 37}\n")
    with open(f"right{suffix}.tsv", "w") as f:
        for i in range(n):
            f.write(f"{i}\t{random.randrange(1200)}\t{random.random():.4f}\n")
