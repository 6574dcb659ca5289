#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=100M
export HF_TOKEN=${HF_TOKEN:-}
export WANDB_API_KEY="$(cat ~/.wandb_key 2>/dev/null)"
TOKENIZER=bert-base-uncased-v2
SECRET_SANTA_LIST=names.txt
echo "$TOKENIZER $SECRET_SANTA_LIST"
