#!/usr/bin/env python3
import argparse

ap = argparse.ArgumentParser()
ap.add_argument("--alpha", type=float, required=True)
ap.add_argument("--beta", type=float, required=True)
a = ap.parse_args()
print(sum(a.alpha ** k / a.beta for k in range(10)))
