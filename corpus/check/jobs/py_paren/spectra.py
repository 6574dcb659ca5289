"""Mean wavelength of a line list."""
import sys

lines = [float(x) for x in open(sys.argv[1])]
mean = sum(lines) / len(lines)
print("mean {:.2f} nm".format(mean)
print("lines", len(lines))
