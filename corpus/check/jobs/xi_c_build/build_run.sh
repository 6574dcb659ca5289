#!/bin/bash
set -euo pipefail
make -s sieve >&2
./sieve "$1"
make -s clean
