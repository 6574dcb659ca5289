#!/bin/bash
#SBATCH --time=10 --mem=100M
set -e
name="sample A
out="result_$name.txt"
echo "start"
date > "$out"
echo done
