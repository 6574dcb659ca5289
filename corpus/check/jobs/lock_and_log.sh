#!/bin/bash
#SBATCH --job-name=lock
#SBATCH --array=1-8%2
#SBATCH --time=5
#SBATCH --mem=200M
set -euo pipefail
exec 9>> all_results.lock
result="task $SLURM_ARRAY_TASK_ID: $(( SLURM_ARRAY_TASK_ID ** 2 ))"
flock 9
echo "$result" >> all_results.txt
flock -u 9
{ date -u +%FT%TZ; echo "$result"; } >> "log_${SLURM_ARRAY_TASK_ID}.txt"
