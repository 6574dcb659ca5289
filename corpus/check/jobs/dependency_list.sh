#!/bin/bash
#SBATCH --time=5
#SBATCH --mem=50M
# submits the analysis behind all of the simulations
ids=()
for seed in 11 12 13; do
    ids+=( "$(sbatch --parsable --wrap="echo seed $seed" --mem=1G --time=1:00:00)" )
done
after=$(IFS=:; echo "${ids[*]}")
sbatch --dependency="afterok:$after" --kill-on-invalid-dep=yes --time=20 --mem=1G --wrap='echo "all done"'
