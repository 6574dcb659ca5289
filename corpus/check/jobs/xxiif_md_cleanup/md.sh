#!/bin/bash
#SBATCH --job-name=lyso-md
#SBATCH --partition=main
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=16
#SBATCH --mem=20G
#SBATCH --time=1-12:00:00

module load gromacs/2023.2

WORK_DIR=/scratch/$USER/lyso_$SLURM_JOB_ID
mkdir -p "$WORK_DIR" || exit 1
cp md.mdp "$WORK_DIR"/ || exit 1
cp /project/lyso/npt.gro /project/lyso/topol.top "$WORK_DIR"/ || exit 1
cd "$WORK_DIR" || exit 1

gmx grompp -f md.mdp -c npt.gro -p topol.top -o md.tpr || exit 1
gmx mdrun -deffnm md -ntmpi 1 -ntomp "$SLURM_CPUS_PER_TASK" || exit 1

mkdir -p "$SLURM_SUBMIT_DIR/results" || exit 1
cp md.xtc md.edr md.log "$SLURM_SUBMIT_DIR/results/" || exit 1
cd "$SLURM_SUBMIT_DIR" || exit 1
# clean up the scratch space
rm -rf $WORKDIR/*
