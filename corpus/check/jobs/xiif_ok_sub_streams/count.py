#!/usr/bin/env python3
import re
import sys
from collections import Counter

k = int(sys.argv[1])
for w, n in Counter(re.findall(r"\w+", sys.stdin.read().lower())).most_common(k):
    print(n, w)
