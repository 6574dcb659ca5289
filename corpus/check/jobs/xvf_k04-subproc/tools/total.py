import sys

with open(sys.argv[1]) as fh:
    print("total", sum(map(int, fh)))
