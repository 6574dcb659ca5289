#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=1G
set -e
g++ -O2 -o tracks tracks.cpp
./tracks
