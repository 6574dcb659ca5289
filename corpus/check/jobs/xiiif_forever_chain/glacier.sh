#!/bin/bash
#SBATCH --job-name=glacier
#SBATCH --ntasks=1
#SBATCH --mem=600M
#SBATCH --time=01:00:00
#SBATCH --output=glacier_%j.out
#SBATCH --open-mode=append

# ice thickness along a flow line, in pieces of ten years
set -euo pipefail
cd "$SLURM_SUBMIT_DIR"

STATE=thickness.txt
YEARS=10

banner() {
    echo "=========================================="
    echo " $1"
    echo "=========================================="
}

if [[ ! -f $STATE ]]; then
    banner "cold start"
    awk 'BEGIN { for (i = 0; i < 60; i++) print i, (i < 30 ? 80 : 0) }' > "$STATE"
fi

banner "job $SLURM_JOB_ID: $YEARS years"
awk -v years="$YEARS" -f flow.awk "$STATE" > "$STATE.new"
mv "$STATE.new" "$STATE"
cp "$STATE" "thickness_$SLURM_JOB_ID.txt"

vol=$(awk '{ v += $2 } END { printf "%.2f", v }' "$STATE")
echo "volume per width: $vol" >> volume.log
banner "volume $vol"

# next piece
sbatch --dependency=afterany:"$SLURM_JOB_ID" glacier.sh
