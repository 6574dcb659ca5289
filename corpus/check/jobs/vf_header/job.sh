#!/bin/bash
#SBATCH --time=10 --mem=1G
set -e
g++ -std=c++17 -Iinclude -o mesh src/main.cpp
./mesh
