#!/bin/bash
#SBATCH --time=20
#SBATCH --mem=500M
set -e
work=$(mktemp -d)
cp "$work"/params.nml params.nml
cd "$work"
grep dx params.nml
