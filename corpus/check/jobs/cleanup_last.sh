#!/usr/bin/env bash
#SBATCH --job-name=cleanup
#SBATCH --time=0-00:15
#SBATCH --mem=1G

set -o errexit -o nounset -o pipefail
scratch=$(mktemp -d)
finish() {
    local status=$?
    [[ -e $scratch/result.txt ]] && cp "$scratch/result.txt" "$SLURM_SUBMIT_DIR/"
    rm -rf -- "${scratch:?}"
    exit "$status"
}
trap finish EXIT
cd "$scratch"
seq 1 50 | awk '{ s += $1 } END { print s }' > partial.txt
mv partial.txt result.txt
