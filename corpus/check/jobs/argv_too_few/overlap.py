import sys

first, second = sys.argv[1], sys.argv[2]
limit = float(sys.argv[3])
with open(first) as one, open(second) as two:
    print(len({float(x) for x in one if float(x) > limit} & {float(x) for x in two}))
