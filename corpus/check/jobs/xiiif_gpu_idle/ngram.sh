#!/bin/bash
#SBATCH --job-name=ngram
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --gres=gpu:a100:2
#SBATCH --mem=16G
#SBATCH --time=02:00:00
#SBATCH --output=ngram_%j.log

# n-gram counts for the parish registers (18th c.)
set -euo pipefail

usage() { echo "usage: sbatch ngram.sh [N]" >&2; exit 64; }

N=${1:-3}
[[ $N =~ ^[1-9]$ ]] || usage

tmp=$(mktemp -d)
trap 'rm -rf -- "$tmp"' EXIT
export LC_ALL=C TMPDIR=$tmp

n_files=0
for f in registers/*.txt; do
    n_files=$((n_files + 1))
    perl ngram.pl -n "$N" "$f" > "$tmp/$(basename "$f" .txt).ng"
done
echo "$n_files registers, n = $N"

sort --parallel="$SLURM_CPUS_PER_TASK" -S 8G "$tmp"/*.ng |
    uniq -c |
    sort -k1,1nr > "ngrams_${N}.txt"

awk '{ n[$1]++ } END { for (f in n) print f, n[f] }' "ngrams_${N}.txt" |
    sort -n > "spectrum_${N}.txt"
