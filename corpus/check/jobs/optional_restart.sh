#!/bin/bash -l
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --time=12:00:00
#SBATCH --mem=4G
#SBATCH --signal=B:USR1@120
args=""
if [ -f checkpoint.npz ]; then
    args="--restart checkpoint.npz"
fi
cat > md.py <<PY
import sys
print("steps for $SLURM_JOB_ID", sys.argv[1:])
PY
python3 md.py $args
