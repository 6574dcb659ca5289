#!/bin/sh
#SBATCH --time=00:10:00
#SBATCH --mem=100M
mode=fast
if [[ $mode == fast ]]; then
    echo "10" > steps.txt
fi
cat steps.txt
