#!/bin/bash
#SBATCH --job-name=chain
#SBATCH --time=1-00:00:00
#SBATCH --mem=2G
round=${ROUND:-1}
echo "round $round"
echo "$round" >> rounds.txt
if [ "$round" -lt 5 ] && [ ! -e CONVERGED ]; then
    sbatch --export=ALL,ROUND=$((round + 1)) --dependency=afterany:$SLURM_JOB_ID "$SLURM_SUBMIT_DIR/resubmit_bounded.sh"
fi
