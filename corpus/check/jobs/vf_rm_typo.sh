#!/bin/bash
#SBATCH --time=30
#SBATCH --mem=1G
SCRATCH_DIR=/scratch/$USER/run
mkdir -p "$SCRATCH_DIR"/tmp
/opt/bin/solver --scratch "$SCRATCH_DIR"
rm -rf "$SCRATHC_DIR"/*
