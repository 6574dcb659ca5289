#!/bin/bash
#SBATCH --job-name=md-chain
#SBATCH --time=24:00:00
#SBATCH --ntasks=16
#SBATCH --mem=16G
#SBATCH --signal=B:USR1@300
#SBATCH --open-mode=append
#SBATCH --requeue
max_restarts=5
count=$(scontrol show job "$SLURM_JOB_ID" | grep -oP 'Restarts=\K\d+')
on_usr1() {
  echo "time is nearly over, restart $count"
  kill -TERM "$pid"; wait "$pid"
  if (( ${count:-0} < max_restarts )); then
    scontrol requeue "$SLURM_JOB_ID"
  fi
  exit 0
}
trap on_usr1 USR1
module load gromacs/2023.2
srun gmx_mpi mdrun -deffnm prod -cpi prod.cpt -maxh 23.8 &
pid=$!
wait "$pid"
