import sys

import numpy as np

n = int(sys.argv[1])
rounds = int(sys.argv[2])
rain = np.ones(n)
total = np.empty(n)
for r in range(rounds):
    np.cumsum(rain, out=total)
    np.subtract(total, r, out=rain)
    np.minimum(rain, 1.0, out=rain)
print(total[-1])
