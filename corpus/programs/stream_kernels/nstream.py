import sys
import numpy as np

n = int(sys.argv[1])
iterations = int(sys.argv[2])
a = np.zeros(n)
b = np.full(n, 2.0)
c = np.full(n, 2.0)
for _ in range(iterations):
    a += b + 3.0 * c
print(a.sum())
