#!/usr/bin/env python3
import sys

x, y = map(int, sys.argv[1:])
print(x, y, (x * x + y * y) ** 0.5)
