#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=200M
set -e
out-dir=results
mkdir -p "$out"
