import sys

total = 0
for name in sys.argv[1:]:
    with open(name) as f:
        total += sum(map(int, f))
print(total)
