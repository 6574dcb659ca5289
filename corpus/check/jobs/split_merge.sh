#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=500M
#SBATCH -c 3
seq 30 > all.txt
split -n l/3 -d all.txt part_
for p in part_0*; do
    awk '{s += $1} END {print s}' "$p" > "$p.sum" &
done
wait
cat part_*.sum | awk '{s += $1} END {print s}' > total.txt
read -r total < total.txt
[ "$total" = 465 ]
