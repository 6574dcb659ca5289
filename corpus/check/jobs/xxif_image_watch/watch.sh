#!/bin/bash
#SBATCH --job-name=plates
#SBATCH --partition=main
#SBATCH --ntasks=1
#SBATCH --mem=4G
#SBATCH --time=2-00:00:00
#SBATCH --output=plates_%j.log

set -uo pipefail
cd "$SLURM_SUBMIT_DIR"
mkdir -p done counts

count_plate() {
    local f=$1 base
    base=$(basename "$f" .pgm)
    if perl count_colonies.pl "$f" > "counts/$base.txt"; then
        mv "$f" done/
    else
        echo "could not count $f" >&2
    fi
}

# takes every plate that the microscope puts into incoming/
while true; do
    for f in incoming/*.pgm; do
        [[ -e $f ]] || continue
        echo "$(date '+%F %T') $f"
        count_plate "$f"
    done
    sleep 30
done
