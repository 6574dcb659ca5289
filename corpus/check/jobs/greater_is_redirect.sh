#!/bin/bash
#SBATCH --time=30
#SBATCH --mem=500M
coverage=12
if [ $coverage > 30 ]; then
    echo "coverage is good"
fi
[ ! -e 30 ]
