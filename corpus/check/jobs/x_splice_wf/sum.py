#!/usr/bin/env python3
import sys
title, path = sys.argv[1:]
with open("total.txt", "w") as fh:
    print(title, sum(int(x) for x in open(path)), file=fh)
