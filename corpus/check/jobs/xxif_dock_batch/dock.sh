#!/bin/bash
#SBATCH --job-name=dock
#SBATCH --partition=main
#SBATCH --nodes=1
#SBATCH --ntasks=4
#SBATCH --cpus-per-task=1
#SBATCH --mem=8G
#SBATCH --time=06:00:00
#SBATCH --output=dock_%j.out

# four ligands at a time, each in a background step; every status is looked at
set -uo pipefail
cd "$SLURM_SUBMIT_DIR"
mkdir -p poses

declare -A pid=()
failed=0
for lig in ligands/*.xyz; do
    while (( $(jobs -rp | wc -l) >= SLURM_NTASKS )); do
        sleep 1
    done
    name=$(basename "$lig" .xyz)
    srun --exact -n1 -c1 --mem=1900M ./score.pl receptor.xyz "$lig" > "poses/$name.txt" &
    pid[$name]=$!
done

for name in "${!pid[@]}"; do
    if ! wait "${pid[$name]}"; then
        echo "$name failed" >&2
        failed=$((failed + 1))
    fi
done
exit $(( failed > 0 ))
