#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=100M
# if [ -f x ]; then   <- an old idea, "unfinished
# for i in 1 2 3
echo "100% of what's needed"; echo \' \" \\
echo {1..3}{a,b} $'tab\there' "${PWD##*/}"
