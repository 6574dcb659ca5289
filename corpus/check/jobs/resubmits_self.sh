#!/bin/bash
#SBATCH -J forever
#SBATCH -t 1:00:00
#SBATCH --mem=1G
date >> visits.txt
sbatch "$SLURM_SUBMIT_DIR/resubmits_self.sh"
