import random
import sys

random.seed(int(sys.argv[1]))
n = int(sys.argv[2])
x = 0.0
acc = 0.0
for _ in range(n):
    x += random.gauss(0, 1) - 0.01 * x
    acc += x * x
print("%.4f" % (acc / n))
