#!/bin/bash
#SBATCH -a 0-19:2
#SBATCH --time=03:00:00
#SBATCH --mem=3G
#SBATCH --output=%x.%A.%a.log
#SBATCH --error=%x.%A.%a.err
lambdas=(0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1.0 1.1 1.2 1.3 1.4 1.5 1.6 1.7 1.8 1.9)
first=$SLURM_ARRAY_TASK_ID
for k in $first $((first + 1)); do
    echo "${lambdas[$k]}" > "window_$k.txt"
done
