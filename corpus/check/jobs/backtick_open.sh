#!/bin/bash
#SBATCH --time=15
#SBATCH --mem=1G
stamp=`date +%Y%m%d
mkdir -p "run_$stamp"
echo "writing to run_$stamp"
