#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=500M
set -e
cd "$TMPDIR"
git clone --depth 1 https://mkeller:Sommer2021!x@git.uni-example.org/imaging/pipeline.git
cp -r pipeline "$SLURM_SUBMIT_DIR"/
