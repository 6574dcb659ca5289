#!/bin/bash
#SBATCH --time=24h
#SBATCH --mem=2G
#SBATCH -n 1
seq 10 | tail -1
