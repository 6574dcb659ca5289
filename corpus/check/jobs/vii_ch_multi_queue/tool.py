#!/usr/bin/env python3
import sys
mode, index = sys.argv[1], int(sys.argv[2])
print(mode, index)
