#!/bin/bash
#SBATCH -J whole
#SBATCH --nodes=1
#SBATCH --mem=63G
#SBATCH -t 2:00:00
seq 10 | tail -1
