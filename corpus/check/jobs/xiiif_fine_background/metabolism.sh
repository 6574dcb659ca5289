#!/bin/bash
#SBATCH --job-name=fba
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=3
#SBATCH --mem=1G
#SBATCH --time=00:20:00
#SBATCH --output=fba_%j.log

# growth of three strains on the same medium, side by side
set -u
cd "$SLURM_SUBMIT_DIR" || exit 1

declare -A pid
for strain in ecoli yeast bacillus; do
    python3 chemostat.py "media/glucose.txt" "$strain" > "growth_${strain}.txt" 2> "growth_${strain}.err" &
    pid[$strain]=$!
done

failed=0
for strain in "${!pid[@]}"; do
    if wait "${pid[$strain]}"; then
        echo "ok      $strain  $(tail -n 1 "growth_${strain}.txt")"
    else
        echo "failed  $strain" >&2
        failed=$((failed + 1))
    fi
done

rm -f growth_*.err
exit $(( failed > 0 ))
