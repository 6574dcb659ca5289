#!/bin/bash
#SBATCH -t 3:00:00
#SBATCH --mem=1.5G
seq 10 | tail -1
