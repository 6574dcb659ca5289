#!/bin/bash
#SBATCH -p short
#SBATCH --time=08:00:00
#SBATCH --mem=1G
seq 10 | tail -1
