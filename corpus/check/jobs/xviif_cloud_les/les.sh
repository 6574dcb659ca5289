#!/bin/bash
#SBATCH --job-name=les_chain
#SBATCH --partition=main
#SBATCH --ntasks=1
#SBATCH --mem=4G
#SBATCH --time=11:30:00
#SBATCH --open-mode=append
#SBATCH --output=les_chain.log

# One segment of the LES; the next segment takes over from restart.txt
module load python/3.11.3
cd "$SLURM_SUBMIT_DIR" || exit 1

SEG=$(cat segment.txt 2>/dev/null || echo 0)
SEG=$((SEG + 1))
echo "$SEG" > segment.txt
echo "== segment $SEG  job $SLURM_JOB_ID  $(date -Is)"

python3 les.py --restart restart.txt --hours 6
echo "segment $SEG ended with $?"

# next one in the chain
sbatch --dependency=afterany:$SLURM_JOB_ID les.sh
