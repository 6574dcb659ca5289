#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=500M
python3 -c 'print(2)' > out.txt || { echo "python failed" >&2; exit 1; }
echo "finished at $(date)"
