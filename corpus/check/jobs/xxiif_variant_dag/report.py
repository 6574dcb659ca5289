#!/usr/bin/env python3
import sys
rows = [l.split() for l in open(sys.argv[1])]
print("variants:", len(rows))
print("seen in both:", sum(int(r[3]) > 1 for r in rows))
