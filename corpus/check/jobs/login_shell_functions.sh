#!/bin/bash --login
#SBATCH --ntasks=1
#SBATCH --time=00:01:00
#SBATCH --mem=50M
type module > /dev/null 2>&1 && module list
ulimit -s unlimited 2>/dev/null || ulimit -s
hash -r
echo $(( $(date +%-m) % 12 ))
