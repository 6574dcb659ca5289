#!/bin/bash
#SBATCH --time=00:30:00
#SBATCH --signal=B:USR1@120
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --mem=500M
checkpoint() { echo "saving"; touch ckpt; scontrol requeue "$SLURM_JOB_ID"; exit 0; }
trap checkpoint USR1
timeout --signal=INT 25m sh -c 'for i in 1 2 3; do echo $i; done' &
pid=$!
wait "$pid"; rc=$?
[ $rc -eq 124 ] && echo "ran into the limit"
exit $rc
