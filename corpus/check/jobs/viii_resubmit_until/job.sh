#!/bin/bash
#SBATCH --job-name=md_chain
#SBATCH --time=1:00:00
#SBATCH --mem=1G
max_runs=20
n=$(cat run.count 2>/dev/null || echo 0)
echo $((n + 1)) > run.count
printf 'step %d\n' "$n" >> traj.txt
if [ "$n" -lt "$max_runs" ] && [ ! -e STOP ]; then
    sbatch --dependency=afterok:"$SLURM_JOB_ID" job.sh
fi
