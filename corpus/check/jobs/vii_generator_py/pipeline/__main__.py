import argparse
import os
import sys

if not __package__:
    sys.path[0] = os.path.dirname(sys.path[0])
from pipeline import run

ap = argparse.ArgumentParser(prog="pipeline")
ap.add_argument("--n", type=int, default=1)
ap.add_argument("rest", nargs="*")
ns, unknown = ap.parse_known_args()
print(*run(ns.n), sep=": ")
