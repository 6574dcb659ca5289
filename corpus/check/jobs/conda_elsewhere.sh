#!/bin/bash
#SBATCH -J segment
#SBATCH -p gpu
#SBATCH --gres=gpu:a100:1
#SBATCH -c 8
#SBATCH --mem=60G
#SBATCH -t 0-10:00:00
module purge
module load anaconda3/2023.09
source "$(conda info --base)/etc/profile.d/conda.sh" 2>/dev/null || true
conda activate unet || echo "using the base environment"
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
nvidia-smi || true
python3 - <<'EOF'
try:
    import torch
    print(torch.cuda.is_available())
except ImportError:
    print("no torch here; environment of another machine")
EOF
