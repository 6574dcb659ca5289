#!/bin/bash
#SBATCH -t 25
#SBATCH --mem=1G
#SBATCH -J pipeline
here=${SLURM_SUBMIT_DIR:-$(dirname "$0")}
. "$here/config.env"
source "$here/lib/tools.sh"
stage one
stage two
echo "$REGION $RESOLUTION"
