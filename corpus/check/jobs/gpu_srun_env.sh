#!/bin/bash
#SBATCH --partition=gpu
#SBATCH --gpus-per-node=2
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=2
#SBATCH --cpus-per-task=8
#SBATCH --mem=100G
#SBATCH --time=08:00:00
module load cuda/12.1
export MASTER_ADDR=$(hostname)
export MASTER_PORT=$((10000 + SLURM_JOB_ID % 20000))
export WORLD_SIZE=$SLURM_NTASKS
cat > rank.py <<'PY'
import os
rank = int(os.environ.get("SLURM_PROCID", 0))
device = f"cuda:{int(os.environ.get('SLURM_LOCALID', 0))}"
print(rank, os.environ["WORLD_SIZE"], device)
PY
srun python3 rank.py
