#!/bin/bash
#SBATCH -J af2
#SBATCH -p gpu --gres=gpu:a100:1
#SBATCH -c 8 --mem=80G -t 12:00:00
DB=/data/alphafold
FASTA=$1
[ -r "$FASTA" ] || { echo "usage: sbatch $0 file.fasta"; exit 1; }
OUT=$SCRATCH/af2/$(basename "$FASTA" .fasta)
mkdir -p "$OUT"
singularity run --nv -B $DB:$DB -B "$OUT":/out -B "$(dirname "$FASTA")":/in \
    /opt/images/alphafold_2.3.sif \
    --fasta_paths=/in/$(basename "$FASTA") --output_dir=/out --data_dir=$DB \
    --max_template_date=2023-01-01 --use_gpu_relax=true
