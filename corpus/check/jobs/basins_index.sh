#!/bin/bash
#SBATCH --job-name=basins
#SBATCH --array=1-4
#SBATCH --time=15
#SBATCH --mem=500M

basins=(ob lena yenisei amur)
basin=${basins[$SLURM_ARRAY_TASK_ID]}
echo "routing $basin"
echo done > "flow_${basin}.txt"
