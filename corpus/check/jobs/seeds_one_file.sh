#!/bin/bash
#SBATCH --time=30
#SBATCH --mem=1G
for seed in 1 2 3 4; do
    python3 -c "import random; random.seed($seed); print(random.random())" > results.txt
done
test "$(wc -l < results.txt)" -eq 4
