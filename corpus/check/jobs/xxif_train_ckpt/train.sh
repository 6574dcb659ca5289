#!/bin/bash
#SBATCH --job-name=perceptron
#SBATCH --partition=main
#SBATCH --ntasks=1
#SBATCH --mem=3G
#SBATCH --time=04:00:00
#SBATCH --signal=B:USR1@120
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=train_%j.out

set -uo pipefail
cd "$SLURM_SUBMIT_DIR"

# near the end of the time the training is told to save, and the job goes back to the queue
child=
on_usr1() {
    echo "time is nearly over: saving"
    kill -TERM "$child"
    wait "$child"
    if (( ${SLURM_RESTART_COUNT:-0} < 5 )); then
        scontrol requeue "$SLURM_JOB_ID"
    fi
    exit 0
}
trap on_usr1 USR1

python3 -u train.py --data digits.csv --state state.json --epochs 500 &
child=$!
wait "$child"
rc=$?
echo "training ended with $rc"
exit "$rc"
