#!/bin/bash -e
#SBATCH --job-name=mine_logs
#SBATCH --partition=short
#SBATCH --ntasks=1
#SBATCH --time=00:09:00
#SBATCH --output=mine_%j.out
##SBATCH --partition=fat
##SBATCH --mem=9000G
# (the two lines above are switched off: from the old cluster)

set -u -o pipefail
cd "$SLURM_SUBMIT_DIR"

declare -A total=()
for f in runs/*.log; do
    # grep -c says 1 when there is none, that is no error here
    n=$(grep -c 'WARN' "$f" || true)
    total[$f]=$n
done

for f in "${!total[@]}"; do
    printf '%s\t%d\n' "$f" "${total[$f]}"
done | sort > warnings.tsv

if ! diff -q warnings.tsv expected.tsv > /dev/null; then
    echo "warnings changed:"
    diff warnings.tsv expected.tsv || :
fi
