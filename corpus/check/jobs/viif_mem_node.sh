#!/bin/bash
#SBATCH --time=1:00:00
#SBATCH --mem=128G
#SBATCH --partition=main
#SBATCH --cpus-per-task=4
/opt/bin/assemble -t 4
