#!/usr/bin/env python3
import random
import sys

random.seed(int(sys.argv[1]))
n = int(sys.argv[2])
hit = sum(random.random() ** 2 + random.random() ** 2 < 1 for _ in range(n))
print(4 * hit / n)
