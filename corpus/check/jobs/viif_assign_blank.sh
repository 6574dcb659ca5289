#!/bin/bash
#SBATCH --time=10 --mem=100M
set -e
threads = 4
echo "$threads"
