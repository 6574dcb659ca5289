#!/bin/bash
#SBATCH -p bigmem
#SBATCH --mem=900G
#SBATCH -c 32
#SBATCH -t 5-00:00:00
#SBATCH -C icelake
free -g | awk '/Mem/ {print $2}'
python3 -c 'x = bytearray(1 << 20); print(len(x))'
