#!/bin/bash
#SBATCH --time=08:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --mem=1G
#SBATCH --signal=B:TERM@60
stop=0
trap 'stop=1' TERM
i=$(cat progress 2>/dev/null || echo 0)
while [ "$stop" -eq 0 ] && [ "$i" -lt 50 ]; do
    i=$((i + 1))
    echo "$i" > progress
done
[ "$stop" -eq 1 ] && scontrol requeue "$SLURM_JOB_ID"
exit 0
