#!/bin/bash
#SBATCH --mail-type=DONE
#SBATCH --mail-user=me@example.org
#SBATCH -t 30
#SBATCH --mem=1G
seq 10 | tail -1
