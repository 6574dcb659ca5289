#!/bin/bash
#SBATCH --time=20:00
#SBATCH --mem=1G
#SBATCH --job-name=tomo_clean
WORK_DIR=/scratch/$USER/tomo
mkdir -p "$WORK_DIR/tmp"
echo "projections" > "$WORK_DIR/tmp/list"
sort "$WORK_DIR/tmp/list"
rm -rf $WORKDIR/*
