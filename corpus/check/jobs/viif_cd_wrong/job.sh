#!/bin/bash
#SBATCH --time=10 --mem=100M
set -e
cd anaylsis
sort in.txt > out.txt
