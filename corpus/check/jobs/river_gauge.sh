#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=300M
level=7
if [ "$level" -gt 5 ]
    echo "flood warning"
fi
