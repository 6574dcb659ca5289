#!/usr/bin/env python3
import collections
import sys
c = collections.Counter()
for f in sys.argv[1:]:
    with open(f) as fh:
        c.update(tuple(l.split()) for l in fh)
for (pos, ref, alt), n in sorted(c.items(), key=lambda kv: int(kv[0][0])):
    print(pos, ref, alt, n)
