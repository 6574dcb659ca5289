#!/bin/bash
#SBATCH --time=10 --mem=100M
set -e
sort -k2,2n table.txt > table.txt
test -s table.txt
