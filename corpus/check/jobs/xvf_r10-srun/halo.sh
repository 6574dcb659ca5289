#!/usr/bin/env bash
#SBATCH --job-name=halo
#SBATCH --nodes=1
#SBATCH --ntasks=4
#SBATCH --cpus-per-task=1
#SBATCH --mem-per-cpu=1G
#SBATCH --time=00:30:00

set -euo pipefail
cd "$SLURM_SUBMIT_DIR"
mkdir -p parts

log() { echo "$(date +%T) $*" >&2; }

log "ranks start"
srun --ntasks=8 bash rank.sh
log "ranks done"
sort -n parts/rank_*.txt > halo.txt
