#!/bin/bash
#SBATCH -p gpu --gres=gpu:a100:1 -c 8 --mem=64000M --time=0-08:00:00
#SBATCH --output=af-%j.log
IMG=/opt/images/alphafold_2.3.sif
DB=/db/alphafold
apptainer exec --nv --cleanenv \
    --env TF_FORCE_UNIFIED_MEMORY=1 \
    -B "$DB":/db:ro,"$PWD":/work --pwd /work "$IMG" \
    python /app/run_alphafold.py --fasta_paths=/work/T1050.fasta --max_template_date=2022-01-01 \
      --data_dir=/db --output_dir=/work/out --use_gpu_relax
