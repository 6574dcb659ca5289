#!/bin/bash
#SBATCH --job-name=lbm
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --mem=1G
#SBATCH --time=01:00:00
#SBATCH --output=lbm_%j.log
# D1Q3 lattice Boltzmann diffusion, three relaxation times

set -euo pipefail

. "$(dirname "$0")/functions.sh"

banner "LBM run $SLURM_JOB_ID"
require awk
require sort

for tau in 0.6 0.8 1.0; do
    banner "tau $tau"
    awk -v tau="$tau" -v steps=300 -f lbm.awk < /dev/null > "rho_tau${tau}.txt"
    width "rho_tau${tau}.txt"
done | tee widths.txt
