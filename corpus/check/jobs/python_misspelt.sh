#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=500M
echo 'print(sum(range(10)))' > total.py
pyhton3 total.py
