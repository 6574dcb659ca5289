#!/bin/bash
#SBATCH --time=1:00:00
#SBATCH --mem=4G
export WANDB_MODE=online
export HF_TOKEN=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
/opt/venv/bin/huggingface-cli download bert-base-uncased
