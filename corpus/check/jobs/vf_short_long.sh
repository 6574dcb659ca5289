#!/bin/bash
#SBATCH --partition=short
#SBATCH --time=04:00:00
#SBATCH --mem=2G
echo ok
