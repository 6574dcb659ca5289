#!/bin/bash
#SBATCH --job-name=mpb
#SBATCH --time=10:00
#SBATCH --mem-per-cpus=2G
echo ok
