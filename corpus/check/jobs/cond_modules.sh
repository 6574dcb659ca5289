#!/bin/bash
#SBATCH -p main
#SBATCH -t 10
#SBATCH --mem=1G
if [[ $(hostname) == oldcluster* ]]; then
    module load intel/2015
else
    module load gcc/12.2.0
fi
[ -f ~/.my_modules ] && source ~/.my_modules
echo compiled with "$(gcc -dumpversion)"
