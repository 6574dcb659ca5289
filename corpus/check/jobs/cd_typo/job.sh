#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=500M
set -e
cd simulatons
cat params.txt
