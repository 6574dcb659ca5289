#!/bin/bash
#SBATCH --job-name=orca
#SBATCH --nodes=1
#SBATCH --ntasks=8
#SBATCH --mem-per-cpu=2G
#SBATCH --time=10:00:00

module load openmpi/4.1.1 orca/5.0.3

SCRATCH=/scratch/$USER/orca.$SLURM_JOB_ID
mkdir -p $SCRATCH
cp water.inp $SCRATCH/
cd $SCRATCH || exit 1

$(which orca) water.inp > $SLURM_SUBMIT_DIR/water.out

cp *.gbw $SLURM_SUBMIT_DIR/
cd $SLURM_SUBMIT_DIR
rm -rf $SCRACTH/*
