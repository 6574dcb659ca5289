#!/bin/bash
#SBATCH -t 30
#SBATCH --mem=1G
#SBATCH -J tidy
OUTDIR=$PWD/out
mkdir -p "$OUTDIR"
seq 5 > "$OUTDIR/x"
rm -rf $OUT_DIR/*
