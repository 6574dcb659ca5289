#!/bin/bash
#SBATCH --job-name=matlab_sim
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --mem=6G
#SBATCH --time=04:00:00

module load matlab/R2022b

matlab -nodisplay -nosplash -singleCompThread -batch "run_model"
