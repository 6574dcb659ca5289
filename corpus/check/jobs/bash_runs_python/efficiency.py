import sys

r0 = 5.4
r = float(sys.argv[1])
print(1 / (1 + (r / r0) ** 6))
