#!/usr/bin/env python3
import argparse

ap = argparse.ArgumentParser()
ap.add_argument("--size", type=int, required=True)
ap.add_argument("--rate", type=float, required=True)
a = ap.parse_args()
print(f"{(1 + a.rate) ** a.size:.4f}")
