#!/bin/bash
#SBATCH -p short,main
#SBATCH -t 45
#SBATCH --mem=62G
#SBATCH --nodes=1 --exclude=node4
#SBATCH --nice=100
#SBATCH --comment="weekly, low priority"
#SBATCH --dependency=singleton
echo ok
