#!/bin/bash
#SBATCH --cpus-per-task=4
#SBATCH --time=1:00:00
#SBATCH --mem=1G
mkdir -p in
for i in $(seq 1 12); do echo "$i" > "in/$i.txt"; done
find in -name '*.txt' -print0 | xargs -0 -n 1 -P "${SLURM_CPUS_PER_TASK:-1}" sh -c 'awk "{print \$1*2}" "$0" > "$0.out"'
cat in/*.out | wc -l
