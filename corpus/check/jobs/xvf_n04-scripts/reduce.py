#!/usr/bin/env python3
import sys
from pathlib import Path

src, dst = map(Path, sys.argv[1:])
flux = [float(line.split()[1]) for line in src.read_text().splitlines()]
dst.write_text(f"{sum(flux) / len(flux):.3f}\n")
