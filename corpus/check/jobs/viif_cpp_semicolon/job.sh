#!/bin/bash
#SBATCH --time=10 --mem=1G
set -e
g++ -o sim sim.cpp && ./sim
