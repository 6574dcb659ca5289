#!/bin/bash
#SBATCH --time=5 --mem=300M
srun -n1 python3 -u pipeline/__main__.py --n 5 -- extra 1>&2
python3 -m pipeline --n 3
