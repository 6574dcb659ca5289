"""Arrhenius rates."""
import math
import sys


def rate(temperature):
    return 1e13 * math.exp(-0.7 / (8.617e-5 * temperature))


if __name__ == "__main__":
    print(rate(float(sys.argv[1])))
