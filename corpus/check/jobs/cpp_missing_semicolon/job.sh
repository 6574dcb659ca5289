#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=1G
set -e
g++ -O1 -o mesh mesh.cpp
./mesh
