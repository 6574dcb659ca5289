#!/bin/bash
#SBATCH --job-name=tests
#SBATCH --time=10
#SBATCH --mem=500M

phase=2
restart=no
if [ $phase -eq 2 && "$restart" = no ]; then
    echo "fresh start of phase 2"
fi
