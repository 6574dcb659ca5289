#!/bin/bash -l
#SBATCH --partition=gpu
#SBATCH --gpus-per-node=1
#SBATCH --cpus-per-task=6
#SBATCH --mem=40G
#SBATCH --time=0-06:00
module purge
module load python/3.11.3 cuda/12.1
source $HOME/venvs/llm/bin/activate
cd $HOME/projects/llm || exit 2
export HF_HOME=$SCRATCH/hf TOKENIZERS_PARALLELISM=false
export HF_TOKEN=$(<$HOME/.hf_token)
python -u finetune.py --config configs/base.yaml --output_dir $SCRATCH/out/$SLURM_JOB_ID
