#!/bin/bash
#SBATCH -p gpu
#SBATCH --gpus=1
#SBATCH -c 4
#SBATCH --mem=32G
#SBATCH -t 4:00:00
img="${IMAGES:-/shared/images}/vision.sif"
apptainer exec --nv --bind "$PWD:/work" "$img" python /work/infer.py --device cuda:0
