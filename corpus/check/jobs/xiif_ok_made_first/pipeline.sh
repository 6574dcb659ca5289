#!/bin/bash
#SBATCH --job-name=coal
#SBATCH --ntasks=1
#SBATCH --mem=1G
#SBATCH --time=00:30:00
#SBATCH --output=coal_%j.out

set -euo pipefail
mkdir -p sim/{tree,seq}

for rep in {1..3}; do
    python3 coalescent.py --n 8 --seed "$rep" > "sim/tree/rep${rep}.txt"
done

cat > stats.awk <<'AWK'
# mean height over replicates
$1 == "height" { s += $2; n++ }
END { printf "mean height %.3f (%d trees)\n", s / n, n }
AWK

awk -f stats.awk sim/tree/rep1.txt sim/tree/rep2.txt sim/tree/rep3.txt | tee sim/summary.txt
gzip -kf sim/tree/rep1.txt
zcat sim/tree/rep1.txt.gz | head -n 1 > sim/seq/first.txt || true
