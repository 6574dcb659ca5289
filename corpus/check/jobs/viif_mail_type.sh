#!/bin/bash
#SBATCH --time=1:00:00
#SBATCH --mem=4G
#SBATCH --mail-type=DONE
#SBATCH --mail-user=me@example.org
echo ok
