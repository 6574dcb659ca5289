#!/usr/bin/env python3
import argparse
from pathlib import Path

ap = argparse.ArgumentParser()
ap.add_argument("--title", required=True)
ap.add_argument("--input", type=Path, required=True)
a = ap.parse_args()
print(a.title, len(a.input.read_text().splitlines()) - 1)
