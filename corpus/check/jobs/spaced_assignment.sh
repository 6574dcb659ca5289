#!/bin/bash
#SBATCH -t 20
#SBATCH --mem=1G
#SBATCH -J mc
seed = 42
python3 -c "import random; random.seed('$seed'); print(random.random())"
