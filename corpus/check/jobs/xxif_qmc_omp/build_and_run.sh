#!/bin/bash
set -euo pipefail
make -j "$1" qmc
./qmc "$2"
