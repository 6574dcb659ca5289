import random
import sys

random.seed(77)
with open("sales.csv", "w") as f:
    for i in range(int(sys.argv[1])):
        f.write(f"{i},shop{random.randrange(40)},{random.randrange(100000) / 100}\n")
