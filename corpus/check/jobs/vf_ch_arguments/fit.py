#!/usr/bin/env python3
import sys
seed, scale = int(sys.argv[1]), float(sys.argv[2])
print(seed * scale)
