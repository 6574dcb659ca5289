#!/bin/bash
#SBATCH --job-name="my job"
#SBATCH --time=00:30:00
#SBATCH --mem=1G
#SBATCH --mail-type=ALL
#SBATCH --mail-user=alice@example.edu

echo "============================================"
echo "  Host:    `hostname`"
echo "  Date:    `date`"
echo "  Dir:     `pwd`"
echo "  JobID:   $SLURM_JOB_ID ($SLURM_JOB_NAME)"
echo "============================================"
ulimit -s unlimited 2>/dev/null
time python3 work.py || exit 1
echo "Finished: `date`"
