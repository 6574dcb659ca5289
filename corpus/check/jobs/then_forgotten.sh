#!/bin/bash
#SBATCH --time=15
#SBATCH --mem=1G
n=$(ls | wc -l)
if [ "$n" -gt 100 ]
    echo "too many files, packing"
    tar cf pack.tar ./*.dat
fi
