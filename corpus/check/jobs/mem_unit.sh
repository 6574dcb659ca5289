#!/bin/bash
#SBATCH -t 3:00:00
#SBATCH --mem 16 GB
#SBATCH -c 4
seq 10 | tail -1
