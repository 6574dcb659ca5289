#!/bin/bash
#SBATCH --job-name=fit
#SBATCH --ntasks=1
#SBATCH --mem=1G
#SBATCH --time=00:10:00

python3 fit.py obs.csv 2>&1 | tee fit.log
rc=${PIPESTATUS[0]}
if [ "$rc" -ne 0 ]
then
  echo "fit failed with $rc"
  exit "$rc"
fi
grep slope fit.log
echo "finished $(date)"
