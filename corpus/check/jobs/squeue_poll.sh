#!/bin/bash
#SBATCH -t 1-00:00:00
#SBATCH --mem=100M
while squeue -h -u "$USER" -n stage1 | grep -q stage1; do
    sleep 1
done
echo "stage 1 is done"
