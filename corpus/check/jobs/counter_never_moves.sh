#!/bin/bash
#SBATCH --time=2-00:00:00
#SBATCH --mem=1G
step=0
last=10
while [ "$step" -lt "$last" ]; do
    echo "equilibration $step" > equil.log
    nextstep=$((step + 1))
    sleep 0.2
done
