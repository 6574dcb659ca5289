#!/bin/bash
#SBATCH --job-name=six
#SBATCH --nodes=1
#SBATCH --ntasks=6
#SBATCH --cpus-per-task=1
#SBATCH --mem-per-cpu=500M
#SBATCH --time=00:30:00

for i in 1 2 3 4 5 6; do
  srun --exclusive -n1 -c1 --mem=500M bash one.sh $i > one.$i.txt &
done
wait
cat one.[1-6].txt > all.txt
test "$(wc -l < all.txt)" -eq 6
