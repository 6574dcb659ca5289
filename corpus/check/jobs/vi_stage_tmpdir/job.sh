#!/bin/bash
#SBATCH --time=5 --mem=300M --tmp=2G
set -e
scratch=${SLURM_TMPDIR:-$TMPDIR}/$SLURM_JOB_ID
mkdir -p "$scratch"
cleanup() {
  rc=$?
  cp -r "$scratch"/results "$SLURM_SUBMIT_DIR"/results_"$SLURM_JOB_ID" || true
  rm -rf "${scratch:?}"
  exit $rc
}
trap cleanup EXIT
cp data/*.csv "$scratch"/
cd "$scratch"
mkdir results
for f in *.csv; do
  awk -F, 'NR > 1 { s += $2 } END { printf "%s %.2f\n", FILENAME, s / (NR - 1) }' "$f" >> results/means.txt
done
