#!/bin/bash
#SBATCH -t 30
#SBATCH --mem=1G
if [ $RESTART = yes ]; then
    echo "from the checkpoint"
else
    echo "from the start"
fi
