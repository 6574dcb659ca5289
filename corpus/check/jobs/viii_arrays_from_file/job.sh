#!/bin/bash
#SBATCH --array=1-3
#SBATCH --time=30
#SBATCH --mem=300M
read -r sample r1 r2 < <(awk -v n="$SLURM_ARRAY_TASK_ID" 'NR == n + 1' samples.tsv)
[[ $sample && -r data/$r1 && -r data/$r2 ]] || { echo "no line $SLURM_ARRAY_TASK_ID" >&2; exit 2; }
mkdir -p "bam/$sample" || exit
cat "data/$r1" "data/$r2" > "bam/$sample/merged.txt"
ls -la "bam/${sample}/merged.txt"
