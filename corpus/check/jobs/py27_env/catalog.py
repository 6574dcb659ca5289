# Python 2 code; the environment py27 has that interpreter
import sys
for line in open(sys.argv[1]):
    name, mag = line.split()
    if float(mag) < 6:
        print name, mag
