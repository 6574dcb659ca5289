#!/bin/bash
#SBATCH --array=1-12%4
#SBATCH --time=0-02
#SBATCH --mem=512M
#SBATCH -o %x-%A_%a.log

result_of() { printf 'res_%03d.csv' "$1"; }

task=${SLURM_ARRAY_TASK_ID:?run me with sbatch --array}
out=$(result_of "$task")
{
    echo "x,y"
    for ((x = 0; x < 5; x++)); do
        echo "$x,$((x * task))"
    done
} > "$out.part" && mv "$out.part" "$out"
