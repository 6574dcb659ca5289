#!/bin/bash
#SBATCH -t 20
#SBATCH --mem=1G
set -e
source ./env/setup.sh
echo "$PROJECT"
