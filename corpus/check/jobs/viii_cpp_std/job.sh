#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=2G
#SBATCH --cpus-per-task=2
set -o errexit -o nounset
g++ -std=c++20 -O2 -Wall -pthread -Iinclude src/main.cpp -o "$TMPDIR/hist"
printf '%s\n' 3 1 4 1 5 9 | "$TMPDIR/hist" --bins=4
