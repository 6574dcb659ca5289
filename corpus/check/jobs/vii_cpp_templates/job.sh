#!/bin/bash
#SBATCH --time=10 --mem=1500M
set -o errexit -o nounset
g++ -std=c++17 -O1 -o walk walk.cpp
for seed in 1 2; do ./walk "$seed"; done | awk '{ n += $NF } END { exit !(NR == 2 && n >= 0) }'
