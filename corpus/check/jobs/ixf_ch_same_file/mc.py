#!/usr/bin/env python3
import random, sys
random.seed(int(sys.argv[1]))
print(random.random())
