#!/bin/bash
#SBATCH --job-name=melt
#SBATCH --nodes=1
#SBATCH --ntasks=16
#SBATCH --mem=16G
#SBATCH --time=1-00:00:00

module load lammps/23Jun2022

if [ -e restart.latest ]
then
  srun lmp -var start restart.latest -in in.melt
else
  srun lmp -in in.melt
fi

# keep going
sbatch lammps.sh
