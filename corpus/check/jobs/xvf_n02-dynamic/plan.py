#!/usr/bin/env python3
"""Write one node per site."""
import sys
from pathlib import Path

src, dst = map(Path, sys.argv[1:])
lines = []
for i, site in enumerate(src.read_text().split()):
    lines.append(f"JOB s{i} site.sub")
    lines.append(f'VARS s{i} site="{site}"')
dst.write_text("\n".join(lines) + "\n")
