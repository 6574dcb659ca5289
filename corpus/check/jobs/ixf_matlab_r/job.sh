#!/bin/bash
#SBATCH --job-name=matlab
#SBATCH --time=05:00:00
#SBATCH --mem=8G
# module load matlab
matlab -nodisplay -nosplash -nodesktop -r "my_script"
