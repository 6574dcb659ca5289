#!/bin/bash
#SBATCH --job-name=abq
#SBATCH --ntasks=8 --nodes=1
#SBATCH --time=10:00:00
#SBATCH --mem=32G
unset SLURM_GTIDS
/opt/abaqus/Commands/abaqus job=beam input=/home/shared/beam.inp cpus=$SLURM_NTASKS \
    mp_mode=mpi scratch=$TMPDIR double interactive ask_delete=OFF
grep "COMPLETED SUCCESSFULLY" beam.sta
