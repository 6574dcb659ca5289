#!/usr/bin/env python3
import argparse

ap = argparse.ArgumentParser()
ap.add_argument("name")
ap.add_argument("--after")
a = ap.parse_args()
print(a.name, "after", a.after or "nothing")
