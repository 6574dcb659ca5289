#!/bin/bash
#SBATCH --job-name=md
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=16
#SBATCH --time=24:00:00
#SBATCH --mem=16G
module load gromacs/2023.2
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK}
cd /scratch/md/lysozyme
printf "Protein\nSystem\n" | gmx trjconv -s md.tpr -f md.xtc -o fit.xtc -fit rot+trans
if [[ -f md.cpt ]]; then
    gmx mdrun -deffnm md -cpi md.cpt -append -ntmpi 1 -ntomp $OMP_NUM_THREADS -maxh 23.5
else
    gmx grompp -f md.mdp -c npt.gro -t npt.cpt -p topol.top -o md.tpr -maxwarn 1
    gmx mdrun -deffnm md -ntmpi 1 -ntomp $OMP_NUM_THREADS -maxh 23.5
fi
