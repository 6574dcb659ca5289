#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=100M
echo 'print("the last step replaces the shell")' > last.py
exec python3 last.py
