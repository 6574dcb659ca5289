#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=100M
#SBATCH --array=1-3
case ${SLURM_ARRAY_TASK_ID} in
    1) method=euler ;;
    2) method=rk4 ;;
    3) method=verlet ;;
    *) echo "no such task" >&2; exit 64 ;;
esac
echo "method=$method" > "result_${method}.txt"
