#!/bin/bash
#SBATCH --job-name=notebook
#SBATCH --cpus-per-task=4
module load python
unset XDG_RUNTIME_DIR
jupyter lab --no-browser --ip="$(hostname)" --port=9321
