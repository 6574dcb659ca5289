#!/bin/bash
#SBATCH --nodes=2 --time=30 --mem=1G
scontrol show hostnames "$SLURM_JOB_NODELIST" > hosts
while read -r host; do
  ssh "$host" 'df -h /tmp | tail -1'
done < hosts
