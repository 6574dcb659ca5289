import math
import sys

mix = float(sys.argv[1])
rho, it = 1.0, 0
while True:
    new = 4.0 * math.exp(-rho) * (1 + rho)
    it += 1
    if abs(new - rho) < 1e-10:
        print("rho", rho, "iterations", it)
        sys.exit(0)
    rho += mix * (new - rho)
    if it >= 500:
        sys.exit(1)
