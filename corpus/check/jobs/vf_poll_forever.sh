#!/bin/bash
#SBATCH --time=12:00:00
#SBATCH --mem=500M
module load python/3.11.3
python3 -c 'print("monitor")'
while true; do
  squeue -u "$USER" | wc -l >> queue.log
  sleep 60
done
