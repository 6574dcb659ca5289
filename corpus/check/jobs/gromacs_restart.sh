#!/bin/bash
#SBATCH --job-name=npt
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=16
#SBATCH --mem=16G
#SBATCH --time=24:00:00
module load gromacs/2023.2
touch npt.mdp conf.gro topol.top   # copied from the template folder on the real machine
[[ -s npt.tpr ]] || gmx grompp -f npt.mdp -c conf.gro -p topol.top -o npt.tpr
gmx mdrun -deffnm npt -ntomp "$SLURM_CPUS_PER_TASK" -maxh 23.5 ${CPT:+-cpi "$CPT"}
