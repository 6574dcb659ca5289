#!/usr/bin/env python3
import argparse

from helper import double

p = argparse.ArgumentParser()
p.add_argument("-n", type=int)
print(double(p.parse_args().n))
