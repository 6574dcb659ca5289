#!/bin/bash
#SBATCH -o out/%x-%j.txt
#SBATCH -e out/%x-%j.txt
#SBATCH -t 10
#SBATCH --mem=100M
mkdir -p out/plots
echo "png" > "out/plots/figure 1.png"
for f in out/plots/*.png; do
    [ -e "$f" ] || continue
    mv -- "$f" "${f// /_}"
done
ls out/plots
