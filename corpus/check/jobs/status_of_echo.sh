#!/bin/bash
#SBATCH --time=1:00:00
#SBATCH --mem=1G
python3 -c 'raise SystemExit(int("x"))'
echo "model finished at $(date)"
if [ $? -ne 0 ]; then
    echo "model failed"
    exit 1
fi
