#!/bin/bash
#SBATCH -t 30
#SBATCH --mem=1G
echo a >> calls.txt
sleep 0.1
bash b.sh
