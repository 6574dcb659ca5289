#!/usr/bin/env python3
"""Pick up jobs from a spool folder; stop once it stayed empty for a while."""
import os
import sys
import time

spool, patience = sys.argv[1], int(sys.argv[2])


def submit(k):
    with open(os.path.join(spool, f"{k:03d}.job"), "w") as f:
        f.write(f"convert page {k}\n" * 20)


for k in range(30):
    submit(k)

idle = handled = 0
while idle < patience:
    names = sorted(n for n in os.listdir(spool) if n.endswith(".job"))
    if not names:
        idle += 1
        time.sleep(0.4)
        continue
    idle = 0
    for name in names[:10]:
        path = os.path.join(spool, name)
        with open(path) as f:
            words = sum(len(line.split()) for line in f)
        os.unlink(path)
        handled += 1
    print(f"{handled} done, last {name}: {words} words", flush=True)
