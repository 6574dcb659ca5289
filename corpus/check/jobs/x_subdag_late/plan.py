#!/usr/bin/env python3
import sys
n = int(sys.argv[1])
with open("inner_generated.dag", "w") as fh:
    for i in range(n):
        fh.write("JOB t%d task.sub\n" % i)
        fh.write('VARS t%d i="%d"\n' % (i, i))
