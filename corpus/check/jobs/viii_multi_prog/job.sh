#!/bin/bash
#SBATCH -n 4
#SBATCH --time=30
#SBATCH --mem-per-cpu=500M
{
    echo "0   ./leader.sh %t"
    echo "1-3 ./worker.sh %t %o"
} > layout.conf
srun --multi-prog layout.conf
