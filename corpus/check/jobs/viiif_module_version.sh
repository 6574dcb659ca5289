#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=300M
set -e
module purge
module load gcc/12.2.0
module load openmpi/4.1.6
echo "$HOSTNAME"
