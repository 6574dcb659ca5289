#!/usr/bin/env python3
import sys
from collections import Counter

from logtools import parse_line

hits = Counter()
with open(sys.argv[1]) as fh:
    for line in fh:
        rec = parse_line(line)
        if rec:
            hits[rec["path"]] += 1
with open(sys.argv[2], "w") as out:
    for p, n in hits.most_common():
        out.write("%s,%d\n" % (p, n))
