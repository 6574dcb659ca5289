#!/bin/bash
#SBATCH -t 30
#SBATCH --mem=1G
export DB_PASSWORD='Gletscher-1987!x'
python3 -c 'import os; print(len(os.environ["DB_PASSWORD"]))'
