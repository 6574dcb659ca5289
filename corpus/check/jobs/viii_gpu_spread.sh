#!/bin/bash
#SBATCH -p gpu -t 10:00:00
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=a100:4
#SBATCH --cpus-per-task=8
#SBATCH --mem=200G
head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_ADDR=$head MASTER_PORT=$((10000 + SLURM_JOB_ID % 50000))
export NCCL_DEBUG=WARN OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
srun --kill-on-bad-exit=1 bash -c '
    export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID WORLD_SIZE=$SLURM_NTASKS
    exec /opt/envs/torch/bin/python /opt/src/gpt/pretrain.py --bf16
'
