#!/bin/bash
#SBATCH --job-name=gate
#SBATCH --time=5
#SBATCH --mem=500M

rmse=$(awk 'BEGIN { print 0.37 + 0.21 }')
if [ "$rmse" -gt 0.5 ]; then
    echo "fit is bad ($rmse), stopping"
    exit 1
fi
echo "fit accepted"
