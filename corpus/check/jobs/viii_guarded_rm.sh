#!/bin/bash
#SBATCH --time=00:10:00
#SBATCH --mem=200M
run_dir="${SLURM_SUBMIT_DIR:?}/run_${SLURM_JOB_ID:?}"
mkdir -p "$run_dir/tmp"
cd "$run_dir" || exit
seq 3 > tmp/a
cp tmp/a result.txt
cd .. && rm -rf "${run_dir:?}/tmp"
rm -f ./*.core "${run_dir}"/*.swp
