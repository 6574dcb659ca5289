#!/bin/bash
#SBATCH --job-name=stencil_gpu
#SBATCH --partition=gpu
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --gres=gpu:v100:1
#SBATCH --mem=16G
#SBATCH --time=02:00:00
#SBATCH --output=stencil-%j.out

set -eo pipefail
module purge
module load gcc/12.2.0 cuda/12.1

cd "$SLURM_SUBMIT_DIR"
make clean
make
./stencil 1024 2000
