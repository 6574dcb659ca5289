#!/bin/bash
#SBATCH --job-name=chain
#SBATCH --time=00:50:00
#SBATCH --partition=short
#SBATCH --mem=2G
/opt/md/run_step --restart /scratch/md/last.rst
sbatch --dependency=afterany:$SLURM_JOB_ID "$SLURM_SUBMIT_DIR/viiif_chain_forever.sh"
