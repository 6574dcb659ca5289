#!/bin/bash
#SBATCH --job-name=train
#SBATCH --cpus-per-task=2
#SBATCH --mem=4G
#SBATCH --time=02:00:00

mkdir -p ckpt
python3 fit.py data.csv | tee fit.log
if [ $? -eq 0 ]
then
  echo "training ok, removing checkpoints"
  rm -f ckpt/*.json
else
  echo "training failed, checkpoints kept"
  exit 1
fi
