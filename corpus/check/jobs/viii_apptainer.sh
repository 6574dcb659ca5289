#!/bin/bash
#SBATCH -p gpu
#SBATCH --gres=gpu:a100:1
#SBATCH --cpus-per-task=8
#SBATCH --time=0-08:00:00
#SBATCH --mem=64G
IMAGE=/opt/images/pytorch_24.01.sif
export APPTAINER_BIND=/scratch,/data
DATA=${1:-/data/cifar}
apptainer exec --nv --bind "$SLURM_SUBMIT_DIR":/workspace --pwd /workspace "$IMAGE" \
    bash -c "nvidia-smi && python /workspace/train.py --data $DATA --workers $SLURM_CPUS_PER_TASK"
