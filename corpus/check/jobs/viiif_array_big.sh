#!/bin/bash
#SBATCH --array=1-50000%200
#SBATCH --time=00:05:00
#SBATCH --mem=300M
#SBATCH -o /dev/null
/opt/dock/bin/vina --config /opt/dock/conf.txt --ligand /scratch/lig/$SLURM_ARRAY_TASK_ID.pdbqt
