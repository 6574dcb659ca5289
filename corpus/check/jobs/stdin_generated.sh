#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=500M
python3 << EOF
import math
n = ${SLURM_NTASKS:-1}
print(math.sqrt(n))
EOF
