#!/bin/bash
#SBATCH --job-name=nightly_bak
#SBATCH --time=00:30:00
#SBATCH --mem=1G
#SBATCH --output=bak_%j.log

set -u
cd "$SLURM_SUBMIT_DIR"
STAMP=$(date +%Y%m%d_%H%M%S)
DEST=backups
mkdir -p "$DEST"

tar czf "$DEST/project_$STAMP.tgz" --exclude='*.tmp' project/
find "$DEST" -name 'project_*.tgz' -mtime +14 -print -delete

sbatch nightly.sh
