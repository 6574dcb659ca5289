#!/bin/bash
#SBATCH --job-name=lysozyme
#SBATCH --partition=cpu
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=24:00:00
#SBATCH --output=md_%j.out
#SBATCH --error=md_%j.err

module load gcc/11 openmpi/4.1 gromacs/2022.3

gmx grompp -f md.mdp -c /data/md/npt.gro -p /data/md/topol.top -o md.tpr
gmx mdrun -ntmpi 1 -ntomp 16 -pin on -deffnm md
