#!/bin/bash
#SBATCH --job-name=mcpi
#SBATCH --time=00:30:00
#SBATCH --signal=B:USR1@120
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=mcpi.log

set -u
mkdir -p state
PID=
on_warn() {
    echo "time is short, asking for a checkpoint"
    kill -TERM "$PID"
    wait "$PID"
    scontrol requeue "$SLURM_JOB_ID"
    exit 0
}
trap on_warn USR1

python3 mcpi.py --state state/step --steps 20 &
PID=$!
wait "$PID"
rc=$?
echo "finished with $rc"
exit $rc
