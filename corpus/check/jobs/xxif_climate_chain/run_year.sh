#!/bin/bash
#SBATCH --job-name=ebm_chain
#SBATCH --partition=main
#SBATCH --ntasks=1
#SBATCH --mem=2G
#SBATCH --time=01:00:00
#SBATCH --output=ebm_%j.log

# One model year a job; the next year starts from restart.json
set -euo pipefail
cd "$SLURM_SUBMIT_DIR"

if [[ ! -f restart.json ]]; then
    cp initial.json restart.json
fi

python3 ebm.py restart.json restart.new
mv restart.new restart.json

year=$(python3 -c 'import json; print(json.load(open("restart.json"))["year"])')
cp restart.json "restart_${year}.json"
echo "year $year finished"

# next year
sbatch run_year.sh
