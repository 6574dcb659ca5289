#!/bin/sh
set -e
python3 fit_lines.py "$1.txt" > "$1.fit"
