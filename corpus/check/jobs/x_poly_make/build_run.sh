#!/bin/bash
#SBATCH -J poly
#SBATCH -t 00:10:00
#SBATCH --mem=512M
make -s NPTS="${NPTS:-5}" results/table.txt && tail -n 2 results/table.txt
