#!/bin/bash
#SBATCH --time=00:20:00
#SBATCH --mem=1G
SRC=$SLURM_SUBMIT_DIR
SCR=$(mktemp -d) || exit 1
tar -czf $SCR/in.tgz data run.py
cd $SCR && tar -xzf in.tgz
python3 run.py data/*.txt > total.txt
tar -czf $SRC/out_$SLURM_JOB_ID.tgz total.txt
cd $SRC; rm -rf "$SCR"
tar -tzf out_$SLURM_JOB_ID.tgz
