#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=200M
set -e
echo 'root = @ROOT@' > paths.cfg
sed -i "s/@ROOT@/$PWD/" paths.cfg
cat paths.cfg
