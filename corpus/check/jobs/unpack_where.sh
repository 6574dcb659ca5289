#!/bin/bash
#SBATCH --job-name=unpack
#SBATCH --time=5
#SBATCH --mem=200M
set -e
echo 5 > value.txt
tar -czf inputs.tar.gz value.txt
tar -xzf inputs.tar.gz -C unpacked
cat unpacked/value.txt
