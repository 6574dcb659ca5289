#!/bin/bash
#SBATCH --job-name=flux
#SBATCH --time=00:10:00
#SBATCH --mem=400M

set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
source "$HERE/lib/flux.sh"

daily_mean tower.csv > daily.txt
gapfill daily.txt > daily_filled.txt
