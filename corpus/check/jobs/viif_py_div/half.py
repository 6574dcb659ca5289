import sys

n = int(sys.argv[1])
mid = n / 2
print([i for i in range(mid)])
