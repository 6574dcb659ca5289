#!/bin/bash
#SBATCH --ntasks=4
#SBATCH --time=1:00:00
#SBATCH --mem-per-cpu=1G
for r in 1 2 3 4; do
  srun --exact -n1 /opt/bin/mc --seed $r > mc_$r.log &
done
echo "all started"
