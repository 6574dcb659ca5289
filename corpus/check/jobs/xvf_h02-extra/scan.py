#!/usr/bin/env python3
import argparse

ap = argparse.ArgumentParser()
ap.add_argument("size", type=int)
ap.add_argument("rate", type=float)
a = ap.parse_args()
print((1 + a.rate) ** a.size)
