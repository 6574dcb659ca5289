#!/bin/bash
#SBATCH --ntasks=8
#SBATCH --cpus-per-task=1
#SBATCH --time=30
#SBATCH --mem-per-cpu=500M
pids=()
for i in $(seq 1 "$SLURM_NTASKS"); do
    ( echo "chunk $i" > "chunk_$i.txt" ) &
    pids+=($!)
done
fail=0
for p in "${pids[@]}"; do wait "$p" || fail=1; done
exit $fail
