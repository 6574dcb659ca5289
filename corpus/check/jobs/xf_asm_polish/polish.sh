#!/bin/bash
#SBATCH --job-name=polish
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=02:00:00
#SBATCH --output=polish_%j.log

set -euo pipefail

ROUND=1
WORK=run${ROUND}
mkdir -p "$WORK"
cp bin/vote.awk "$WORK"/

cd "$WORK"
echo "polishing round $ROUND on $(hostname)"
zcat -f ../reads/pileup.tsv > pileup.tsv
awk -f vote.awk pileup.tsv refs/draft.fa > consensus.fa
grep -c '>' consensus.fa
