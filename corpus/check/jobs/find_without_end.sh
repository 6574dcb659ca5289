#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=200M
set -e
mkdir -p frames
touch frames/a.tmp frames/b.png
find frames -name '*.tmp' -exec rm {}
ls frames
