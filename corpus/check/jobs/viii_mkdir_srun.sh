#!/bin/bash
#SBATCH --job-name=steps
#SBATCH --ntasks=2
#SBATCH --time=00:30:00
#SBATCH --mem=2G
mkdir -p out/{a,b}
for part in a b; do
    srun -n 1 seq 5 > "out/$part/list.txt" &
done
wait
paste out/a/list.txt out/b/list.txt | awk '{ s += $1 * $2 } END { print s; exit s != 55 }'
