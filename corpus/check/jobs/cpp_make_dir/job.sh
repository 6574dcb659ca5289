#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=1G
#SBATCH -c 2
set -e
mkdir -p build
make -C src -j2 OUT=../build
./build/sim
