import sys

size = sys.argv[1]
for i in range(size):
    print(i, i * i)
