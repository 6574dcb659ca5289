#!/bin/bash
#SBATCH -t 2:00:00
#SBATCH --mem=8G
#SBATCH -c 4
module load matlab 2>/dev/null || module load anaconda3
matlab -batch "decay(100)"
