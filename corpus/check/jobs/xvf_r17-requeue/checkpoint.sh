#!/usr/bin/env bash
#SBATCH --job-name=checkpoint
#SBATCH --ntasks=1
#SBATCH --mem=512M
#SBATCH --time=00:30:00

set -euo pipefail
cd "$SLURM_SUBMIT_DIR"

finish() {
    echo "again at $(date +%s)" >> resub.log
    sbatch "$SLURM_SUBMIT_DIR/checkpoint.sh"
}
trap finish EXIT

python3 evolve.py --state state.json --generations 50
