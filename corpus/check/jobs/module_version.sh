#!/bin/bash
#SBATCH -J npt
#SBATCH -t 12:00:00
#SBATCH --mem=8G
#SBATCH -c 8
set -eo pipefail
module purge
module load gromacs/2019.6
gmx --version | head -1
