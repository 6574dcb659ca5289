#!/bin/bash
#SBATCH --job-name=segment
#SBATCH --time=06:00:00
#SBATCH --mem=16G
#SBATCH --ntasks=1
module purge
matlab -batch "segment_all.m"
