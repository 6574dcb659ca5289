#!/usr/bin/env bash
#SBATCH --job-name=checkpoint
#SBATCH --ntasks=1
#SBATCH --mem=512M
#SBATCH --time=00:30:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:USR1@120

set -euo pipefail
cd "$SLURM_SUBMIT_DIR"

again() {
    trap - USR1
    kill -TERM "$child" 2>/dev/null || true
    if (( ${SLURM_RESTART_COUNT:-0} < 5 )); then
        scontrol requeue "$SLURM_JOB_ID"
    fi
    exit 0
}

python3 evolve.py --state state.json --generations 50 &
child=$!
trap again USR1
wait "$child"
