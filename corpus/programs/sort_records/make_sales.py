import random
import sys

random.seed(77)
for name, n in (("sales.csv", int(sys.argv[1])), ("today.csv", int(sys.argv[1]) // 40)):
    with open(name, "w") as f:
        for i in range(n):
            f.write(f"{i},shop{random.randrange(40)},{random.randrange(100000) / 100}\n")
