#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=500M
#SBATCH --cpus-per-task=3
set -e
pids=()
for part in a b c; do
    python3 -c "open('part_$part.txt', 'w').write('$part\n')" &
    pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid"; done
cat part_a.txt part_b.txt part_c.txt > all.txt
test "$(wc -l < all.txt)" -eq 3
