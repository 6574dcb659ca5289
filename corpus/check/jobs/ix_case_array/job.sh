#!/bin/bash
#SBATCH --array=0-5
#SBATCH --time=00:05:00
#SBATCH --mem=200M
METHODS=(rk2 rk4 euler)
SIZES=(100 200)
i=$SLURM_ARRAY_TASK_ID
m=${METHODS[$((i % 3))]}
n=${SIZES[$((i / 3))]}
case $m in
    rk*) order=${m#rk} ;;
    euler) order=1 ;;
    *) echo "unknown $m" >&2; exit 64 ;;
esac
awk -v n=$n -v p=$order 'BEGIN { h = 1 / n; print h ^ p }' > err_${m}_${n}.txt
