#!/bin/bash
#SBATCH -t 20
#SBATCH --mem=1G
set -e
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python3 "$HERE/model.py"
