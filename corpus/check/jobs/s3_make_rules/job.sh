#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=500M
set -e
make -j2 CFLAGS="-O1 -Wall" table.txt
test -s table.txt
