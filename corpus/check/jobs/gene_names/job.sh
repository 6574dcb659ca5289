#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=400M
set -e
source config/setting.sh
echo "$GENES genes"
