#!/bin/bash
#SBATCH -t 20
#SBATCH --mem=1G
cat one.txt
