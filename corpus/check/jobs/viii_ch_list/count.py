#!/usr/bin/env python3
import sys
from pathlib import Path

name, stem, number = sys.argv[1:]
print(stem, int(number), len(Path(Path(name).name).read_text().split()))
