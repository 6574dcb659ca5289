#!/bin/bash
#SBATCH -t 1:00:00
#SBATCH --mem=8G
module load anaconda3/2023.09
apptainer exec ./images/pipeline_v2.sif ./run_all.sh
