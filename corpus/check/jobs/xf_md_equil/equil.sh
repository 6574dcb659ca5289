#!/bin/bash
#SBATCH --job-name=equil
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --mem=2G
#SBATCH --time=24:00
#SBATCH --output=equil_%j.out
#SBATCH --mail-type=END,FAIL

set -euo pipefail

# leave an hour before the limit for writing the checkpoint
export MAXHOURS=23

python3 integrate.py --config equil.json --max-hours "$MAXHOURS" --checkpoint equil.cpt
ls -l equil.cpt
