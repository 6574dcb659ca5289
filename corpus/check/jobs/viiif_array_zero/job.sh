#!/bin/bash
#SBATCH -J fmri
#SBATCH --array=1-5
#SBATCH --time=3:00:00
#SBATCH --mem-per-cpu=3G
set -eu
subjects=(sub-01 sub-02 sub-03 sub-07 sub-11)
sub=${subjects[$SLURM_ARRAY_TASK_ID]}
mkdir -p "derivatives/$sub"
/opt/fmriprep/run.sh --participant "$sub" --out "derivatives/$sub"
