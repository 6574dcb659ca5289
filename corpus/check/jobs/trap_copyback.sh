#!/bin/bash
#SBATCH -t 2:00:00
#SBATCH --mem=2G
scratch=$(mktemp -d)
copyback() {
    cp -r "$scratch"/out "$SLURM_SUBMIT_DIR"/ 2>/dev/null || echo "nothing to copy"
    rm -rf "$scratch"
}
trap copyback EXIT TERM
mkdir "$scratch/out"
cd "$scratch" && seq 5 > out/five.txt
