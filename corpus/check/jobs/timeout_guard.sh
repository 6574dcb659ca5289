#!/bin/bash
#SBATCH -t 5
#SBATCH --mem=200M
timeout 1 sleep 30
rc=$?
if [ $rc -eq 124 ]; then
    echo "stopped in time; writing a checkpoint"
    touch checkpoint
else
    exit 1
fi
