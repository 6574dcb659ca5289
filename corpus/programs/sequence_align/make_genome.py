import random
import sys

random.seed(20)
for name, lines in (("genome.fa", int(sys.argv[1])), ("short.fa", int(sys.argv[2]))):
    with open(name, "w") as out:
        out.write(">chr1\n")
        for _ in range(lines):
            out.write("".join(random.choices("ACGT", k=70)) + "\n")
