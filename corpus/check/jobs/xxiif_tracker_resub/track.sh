#!/bin/bash
#SBATCH --job-name=eddytrack
#SBATCH --partition=short
#SBATCH --ntasks=1
#SBATCH --mem=2G
#SBATCH --time=00:50:00
#SBATCH --output=track_%j.out

# the short queue starts at once, so the tracking is done in pieces;
# state.json keeps the last day
cd "$SLURM_SUBMIT_DIR"
python3 track.py --state state.json --days 30
rc=$?
echo "piece ended with $rc at $(date)"

# next piece
sbatch track.sh
exit $rc
