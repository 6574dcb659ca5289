#!/bin/bash
#SBATCH --output=$HOME/logs/run_%j.log
#SBATCH -t 30
#SBATCH --mem=1G
seq 10 | tail -1
