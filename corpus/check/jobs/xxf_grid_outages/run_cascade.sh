#!/bin/bash
set -euo pipefail
workers=${WORKERS:-1}
exec python3 cascade.py lines.csv "$1" "$workers"
