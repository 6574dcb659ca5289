#!/bin/bash
#SBATCH --time=2:00:00
#SBATCH --mem=6G
SCRATCHDIR=/scratch/$USER/$SLURM_JOB_ID
mkdir -p "$SCRATCHDIR"
/opt/orca/orca /home/shared/mol.inp > "$SCRATCHDIR/mol.out"
cp "$SCRATCHDIR"/mol.* "$SLURM_SUBMIT_DIR"
rm -rf $SCRATCH_DIR/*
