import sys

def convert(f):
    return (f - 32) / 1.8

for f in [32, 50]:
    print "%d F is %.1f C" % (f, convert(f))
