#!/bin/bash
#SBATCH --job-name="fem run"
#SBATCH --time=00:15:00
#SBATCH --mem=2G
# site settings are kept apart
set -eu
. "${SLURM_SUBMIT_DIR:-$PWD}/etc/site.env"
source etc/lib.sh

MESH=${MESH:-coarse}
SOLVER=${SOLVER:-cg}
OUT=${OUTROOT}/info

log "mesh=$MESH solver=$SOLVER"
ensure_dir "$OUTROOT"
printf 'mesh=%s\nsolver=%s\ntol=%s\n' "$MESH" "$SOLVER" "${TOL:=1e-6}" > "$OUT"
log "done $TOL"
