#!/bin/bash
#SBATCH --cpus-per-task=8
#SBATCH --time=2:00:00
#SBATCH --mem=8G
mkdir -p conv
find /data/photos -name '*.tif' -print0 |
    parallel -0 -j "$SLURM_CPUS_PER_TASK" --joblog conv/log 'convert {} -resize 50% conv/{/.}.png'
parallel --colsep '\t' echo {1} has {2} :::: <(printf 'a\t1\nb\t2\n')
parallel -j4 --halt now,fail=1 ./conv/check.sh ::: conv/*.png
