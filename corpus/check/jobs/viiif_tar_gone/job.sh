#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=300M
set -e
mkdir -p inputs
echo 1 2 3 > inputs/x.dat
tar czf in.tgz inputs
rm -r inputs
tar xzf in.tgz
cd input
wc -w x.dat
