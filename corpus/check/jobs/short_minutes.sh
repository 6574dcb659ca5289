#!/bin/bash
#SBATCH -p short -t 59:30
#SBATCH --mem=1024K
#SBATCH -n 1 --ntasks-per-core=1
echo "59 minutes and a half"
