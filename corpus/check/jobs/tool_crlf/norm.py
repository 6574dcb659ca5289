#!/usr/bin/env python3
import sys
print(sum(float(x) ** 2 for x in sys.argv[1:]) ** 0.5)
